import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { checkAccessibility } from '../support/axe.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { apiKey, startGateway } from '../support/gateway.ts';

interface Document {
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
}

/** Removes the line breaks of the layout, and the zero-width spaces in paths. */
const oneLine = (text: string) => text.replaceAll('\u200b', '').replace(/\s+/g, ' ').trim();

browserTest('the reference page lists operations, and tries them with exact digits', async () => {
  await using gateway = await startGateway({ demoKey: apiKey });
  await using browser = await openBrowser();
  const page = await browser.newPage();
  const origins = new Set<string>();
  const problems: string[] = [];
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  await page.route('**/v1/openapi.json', async (route) => {
    const document: Document = await (await route.fetch()).json();
    Object.assign(document.paths['/pets']?.['post'] ?? {}, { 'x-stability': 'beta' });
    await route.fulfill({ json: document });
  });
  const open = async (url: string) => {
    await page.goto(`${url}/v1/docs`);
    await page.locator('.opblock').first().waitFor();
  };
  await open(gateway.url);

  /** Returns the method, path, markers and summary of each operation under a tag. */
  const operationsOf = async (tag: string) => {
    const heading = page.locator(`#operations-tag-${tag.replaceAll(' ', '_')}`);
    const group = page.locator('.opblock-tag-section', { has: heading });
    return (await group.locator('.opblock-summary-control').allInnerTexts()).map(oneLine);
  };
  expect(await operationsOf('animals')).toEqual(
    expect.arrayContaining([
      'GET /pets List all pets',
      'POST /pets beta Add a pet',
      'GET /pets/{petId} deprecated Get a pet',
    ]),
  );
  const all = await page.locator('.opblock-summary-control').allInnerTexts();
  expect(all.map(oneLine).slice(3)).toEqual([
    'GET /store/orders List store orders',
    'POST /messages Send a message',
  ]);
  expect(await page.locator('.opblock-tag').count()).toBe(1);
  // Navigation groups have no operations, and are not listed.
  const tags = page.getByRole('navigation', { name: 'Tags' });
  expect((await tags.getByRole('listitem').allInnerTexts()).map(oneLine)).toEqual([
    'animals List, add and fetch pets.',
  ]);
  await tags.getByRole('link', { name: 'animals' }).click();
  await page.waitForURL('**/v1/docs#operations-tag-animals');
  await page.getByText('Requests are sent with the API key demo-key.').waitFor();

  const expand = async (id: string): Promise<Locator> => {
    const operation = page.locator(`#operations-${id}`);
    await operation.locator('.opblock-summary-control').click();
    return operation;
  };
  /** Executes an operation and returns the status and body that the page shows. */
  const tryOut = async (id: string, input?: string) => {
    const operation = await expand(id);
    await operation.getByText('Try it out').click();
    if (input !== undefined) await operation.locator('textarea, input').first().fill(input);
    await operation.getByText('Execute', { exact: true }).click();
    const response = operation.locator('.live-responses-table tbody');
    await response.getByText('Response headers').waitFor();
    return oneLine(await response.innerText());
  };
  expect(await tryOut('animals-listPets')).toMatch(/^200 .*"categoryId": 9007199254740993,/);
  expect(
    await tryOut('animals-createPet', '{"name":"Rex","categoryId":9223372036854775807}'),
  ).toMatch(/^201 .*"id": 13, "name": "Rex", "categoryId": 9223372036854775807/);
  expect(await tryOut('animals-getPet', '13')).toMatch(/^200 .*"name": "Rex"/);
  expect(await tryOut('default-sendMessage', '{"message":"Hello"}')).toMatch(
    /^200 .*"message": "Hello", "status": "queued"/,
  );
  const orders = await expand('default-listOrders');
  await orders.getByText('Missing or invalid API key').waitFor();
  expect(await orders.getByText('Try it out').count()).toBe(0);
  await orders.getByText('This page does not try it').waitFor();

  expect([...origins]).toEqual([gateway.url]);
  await using other = await startGateway({ demoKey: '' });
  await open(other.url);
  expect(await page.getByText('Requests are sent with').isVisible()).toBe(false);
  expect(await page.getByRole('link', { name: 'GraphiQL' }).count()).toBe(0);
  expect(await tryOut('animals-listPets')).toMatch(/^401 .*"unauthenticated"/);
  expect(problems).toEqual([]);
});

browserTest('the reference page may be dark, and works below a prefix', async () => {
  await using gateway = await startGateway({ demoKey: apiKey, graphiql: true });
  await using browser = await openBrowser();
  const page = await browser.newPage({ colorScheme: 'dark' });
  // As a proxy that removes the prefix.
  await page.route('**/shop/**', async (route) => {
    const response = await route.fetch({ url: route.request().url().replace('/shop/', '/') });
    await route.fulfill({ response });
  });
  await page.goto(`${gateway.url}/shop/v1/docs`);
  await page.getByText('/shop/v1 - This server.').waitFor({ state: 'attached' });
  await page.getByText('List all pets').click();
  await page.getByText('Try it out').click();
  const called = page.waitForResponse('**/shop/v1/pets**');
  await page.getByText('Execute', { exact: true }).click();
  expect((await called).status()).toBe(200);
  expect(await checkAccessibility(page, '.swagger-ui .wrapper')).toEqual([]);
  const background = () =>
    page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  expect(await background()).toBe('rgb(28, 32, 34)');
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(background).not.toBe('rgb(28, 32, 34)');
  await page.getByRole('link', { name: 'GraphiQL' }).click();
  await page.waitForURL('**/shop/graphql');
  await page.getByRole('link', { name: 'REST reference' }).click();
  await page.waitForURL('**/shop/v1/docs');
  // Requests of the page may still be on their way through the route.
  await page.unrouteAll({ behavior: 'wait' });
});
