import type { Locator } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { browserTest, openBrowser } from '../support/browser.ts';
import { apiKey, openGateway, startGateway } from '../support/gateway.ts';

vi.setConfig({ testTimeout: 30_000 });

describe('the files of the reference page', () => {
  const get = async (path: string, demoKey?: string) => {
    await using opened = await openGateway({ demoKey });
    const response = await opened.gateway(new Request(`http://gateway.test/v1/docs${path}`));
    return { response, text: await response.text() };
  };

  it('require no key, and may load nothing from other origins', async () => {
    for (const [path, type] of [
      ['', 'text/html; charset=utf-8'],
      ['/page.js', 'text/javascript; charset=utf-8'],
      ['/page.css', 'text/css; charset=utf-8'],
      ['/swagger-ui.css', 'text/css; charset=utf-8'],
      ['/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      const { response } = await get(path);
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        type,
      ]);
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self';.* connect-src 'self';.* frame-ancestors 'none'/,
      );
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('etag')).toMatch(/^"/);
    }
  });

  it.each([
    '/',
    '/package.json',
    '/constructor',
    '/..%2Froutes.ts',
  ])('do not include %s', async (path) => {
    const { response, text } = await get(path);
    expect([response.status, JSON.parse(text)]).toMatchObject([404, { code: 'not_found' }]);
  });

  it('are sent compressed, and not again to a browser that has them', async () => {
    await using service = await startGateway();
    const send = (method: string, headers = {}) =>
      fetch(`${service.url}/v1/docs/page.js`, {
        method,
        headers: { 'accept-encoding': 'br', ...headers },
      });
    const { status, headers } = await send('HEAD');
    expect([status, headers.get('content-encoding')]).toEqual([200, 'br']);
    const known = await send('GET', { 'if-none-match': headers.get('etag') });
    expect([known.status, await known.text()]).toEqual([304, '']);
  });

  it('may be stored by shared caches, except for the page, which may contain a key', async () => {
    const cacheControl = async (path: string) =>
      (await get(path, 'demo-key')).response.headers.get('cache-control');
    expect(await cacheControl('')).toBe('private, no-cache');
    expect(await cacheControl('/swagger-ui-bundle.js')).toBe('public, max-age=3600');
  });

  it('contain a key only in a demo', async () => {
    expect((await get('', 'demo-key')).text).toContain('data-api-key="demo-key"');
    expect((await get('')).text).toContain('data-api-key=""');
  });
});

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
