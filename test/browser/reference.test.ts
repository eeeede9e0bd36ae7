import type { Locator } from 'playwright-core';
import { describe, expect } from 'vitest';
import { browserTest, openBrowser } from '../support/browser.ts';
import { apiKey, startGateway } from '../support/gateway.ts';

describe('the reference page in a browser', () => {
  browserTest(
    'groups operations by tag, and lists all tags above them, including empty ones',
    async () => {
      await using opened = await openReference();
      expect(await opened.operationsOf('animals')).toEqual(
        expect.arrayContaining([
          'GET /pets List all animals',
          'POST /pets Add an animal',
          'GET /pets/{petId} deprecated Get an animal',
        ]),
      );
      expect(await opened.operationsOf('Operations without a tag')).toEqual([
        'GET /store/orders List store orders',
        'POST /messages Send a message',
      ]);
      expect(await opened.page.locator('.opblock-tag').allInnerTexts()).toEqual([
        expect.stringMatching(/^animals/),
        expect.stringMatching(/^Operations without a tag/),
      ]);
      const tags = opened.page.getByRole('navigation', { name: 'Tags' });
      expect((await tags.getByRole('listitem').allInnerTexts()).map(oneLine)).toEqual([
        'animals List, add and fetch animals.',
        'Store Navigation group for the store.',
        'Pets Navigation group for pets.',
        'Operations without a tag',
      ]);
      expect(await tags.getByRole('link').allInnerTexts()).toEqual([
        'animals',
        'Operations without a tag',
      ]);
      await tags.getByRole('link', { name: 'Operations without a tag' }).click();
      const hash = '#operations-tag-Operations_without_a_tag';
      await opened.page.waitForURL(`**/v1/docs${hash}`);
      expect(await opened.page.locator(hash).innerText()).toBe('Operations without a tag');
    },
  );

  browserTest('shows the x-stability of an operation', async () => {
    await using opened = await openReference({
      change({ paths }) {
        Object.assign(paths['/pets']?.['post'] ?? {}, { 'x-stability': 'beta' });
        Object.assign(paths['/pets/{petId}']?.['get'] ?? {}, { 'x-stability': 'experimental' });
      },
    });
    expect(await opened.operationsOf('animals')).toEqual(
      expect.arrayContaining([
        'GET /pets List all animals',
        'POST /pets beta Add an animal',
        'GET /pets/{petId} deprecated experimental Get an animal',
      ]),
    );
  });

  browserTest('tries operations with exact digits, except for the list of orders', async () => {
    await using opened = await openReference();
    expect(await opened.tryOut('animals-listPets')).toMatch(
      /^200 .*"categoryId": 9007199254740993,/,
    );
    expect(
      await opened.tryOut('animals-createPet', '{"name":"Rex","categoryId":9223372036854775807}'),
    ).toMatch(/^201 .*"id": 13, "name": "Rex", "categoryId": 9223372036854775807/);
    expect(await opened.tryOut('animals-getPet', '13')).toMatch(/^200 .*"name": "Rex"/);
    expect(
      await opened.tryOut('Operations_without_a_tag-sendMessage', '{"message":"Hello"}'),
    ).toMatch(/^200 .*"message": "Hello", "status": "queued"/);

    const orders = await opened.expand('Operations_without_a_tag-listOrders');
    await orders.getByText('Missing or invalid API key').waitFor();
    expect(await orders.getByText('Try it out').count()).toBe(0);
  });

  browserTest('starts without a key outside a demo', async () => {
    await using opened = await openReference({ demoKey: '' });
    expect(await opened.tryOut('animals-listPets')).toMatch(/^401 .*"unauthenticated"/);
  });
});

interface Document {
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
}

/**
 * Opens the page of a new gateway, with a changed OpenAPI document if needed. Fails if the page sends a
 * request to another origin.
 */
async function openReference({
  demoKey = apiKey,
  change = (_document: Document): void => {},
} = {}) {
  await using stack = new AsyncDisposableStack();
  const gateway = stack.use(await startGateway({ demoKey }));
  const browser = stack.use(await openBrowser());
  const page = await browser.newPage();
  const origins = new Set<string>();
  const problems: string[] = [];
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  await page.route('**/v1/openapi.json', async (route) => {
    const document = await (await route.fetch()).json();
    change(document);
    await route.fulfill({ json: document });
  });
  await page.goto(`${gateway.url}/v1/docs`);
  await page.locator('.opblock').first().waitFor();

  async function expand(id: string): Promise<Locator> {
    const operation = page.locator(`#operations-${id}`);
    await operation.locator('.opblock-summary-control').click();
    return operation;
  }

  const closing = stack.move();
  return {
    page,
    expand,
    /** Returns the method, path, markers and summary of each operation under a tag. */
    async operationsOf(tag: string): Promise<string[]> {
      const heading = page.locator(`#operations-tag-${tag.replaceAll(' ', '_')}`);
      await heading.waitFor();
      const group = page.locator('.opblock-tag-section', { has: heading });
      return (await group.locator('.opblock-summary-control').allInnerTexts()).map(oneLine);
    },
    /** Executes an operation and returns the status and body that the page shows. */
    async tryOut(id: string, input?: string): Promise<string> {
      const operation = await expand(id);
      await operation.getByText('Try it out').click();
      if (input !== undefined) await operation.locator('textarea, input').first().fill(input);
      await operation.getByText('Execute', { exact: true }).click();
      const response = operation.locator('.live-responses-table tbody');
      await response.getByText('Response headers').waitFor();
      return oneLine(await response.innerText());
    },
    async [Symbol.asyncDispose]() {
      await closing[Symbol.asyncDispose]();
      expect([...origins]).toEqual([gateway.url]);
      expect(problems).toEqual([]);
    },
  };
}

/** Removes the line breaks of the layout, and the zero-width spaces in paths. */
function oneLine(text: string): string {
  return text.replaceAll('\u200b', '').replace(/\s+/g, ' ').trim();
}
