import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Route } from 'playwright-core';
import { build, preview } from 'vite';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ErrorResponse } from '../../src/contract/error.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import { checkAccessibility } from '../support/axe.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { createConsumer } from '../support/consumer.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { holdingOrders, withoutOrders } from '../support/parts.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const example = fileURLToPath(new URL('../../examples/web', import.meta.url));

/** A copy of the example in its own folder, with the packed client. */
const project = await openExample();

async function openExample() {
  const consumer = createConsumer();
  const { devDependencies } = JSON.parse(await readFile(join(example, 'package.json'), 'utf8'));
  const entries = await readdir(example, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !/node_modules|dist/.test(entry.parentPath))
    .map(({ parentPath, name }) => relative(example, join(parentPath, name)));
  const texts = paths.map(async (path) => [path, await readFile(join(example, path), 'utf8')]);
  const project = await consumer.project({
    ours: Object.keys(devDependencies).filter((name) => name !== 'petstore-gateway-client'),
    files: Object.fromEntries(await Promise.all(texts)),
  });
  await build({ root: project.root, logLevel: 'error' });
  return project;
}

/** Opens the built page in a new browser, with a new gateway. */
async function openPage(petStore?: PetStore) {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startGateway(petStore ? { petStore } : {}));
  const server = await preview({
    root: project.root,
    logLevel: 'silent',
    preview: { host: '127.0.0.1', port: 0, proxy: { '/graphql': service.url } },
  });
  stack.defer(() => server.close());
  const browser = stack.use(await openBrowser());
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  await page.goto(server.resolvedUrls?.local[0] ?? '');
  const closing = stack.move();
  return {
    service,
    page,
    cards: page.locator('.card:not(.placeholder)'),
    problem: page.getByRole('alert'),
    async add(name: string, category: string) {
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Category').fill(category);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
    },
    /** Holds requests of this operation. Resolves with the route of the first one. */
    async hold(operation: string) {
      const held = Promise.withResolvers<Route>();
      await page.route('**/graphql', (route) =>
        route.request().postData()?.includes(operation) ? held.resolve(route) : route.continue(),
      );
      return held.promise;
    },
    async [Symbol.asyncDispose]() {
      await closing[Symbol.asyncDispose]();
      expect(problems).toEqual([]);
    },
  };
}

describe('examples/web', () => {
  let opening: ReturnType<typeof openPage> | undefined;
  /** The page of the tests that need no gateway of their own. */
  const open = async () => {
    opening ??= openPage();
    const opened = await opening;
    await opened.cards.nth(11).waitFor();
    return opened;
  };
  afterAll(async () => (await opening)?.[Symbol.asyncDispose]());

  it('compiles without type errors', async () => {
    expect(await project.tsc('7.0')).toBe('');
  });

  browserTest('shows that it is loading, lists pets, and filters them by status', async () => {
    const { page, cards, hold } = await open();
    expect(await cards.first().innerText()).toMatch(/^B\s+Biscuit\s+Category 1\s+Available\s+#1$/);
    const holding = hold('Store');
    await page.reload();
    const route = await holding;
    await page.getByText('Loading …').waitFor();
    expect(await page.locator('.placeholder').count()).toBe(9);
    await route.continue();
    await cards.nth(11).waitFor();
    expect(await page.locator('.placeholder').count()).toBe(0);
    await page.unroute('**/graphql');
    await page.getByText('Sold').first().click();
    await page.getByText('2 pets').waitFor();
    expect(await cards.locator('h2').allInnerTexts()).toEqual(['Pebble', 'Waffles']);
    await page.reload();
  });

  browserTest('fits every window, and passes axe-core', async () => {
    const { page, problem, add } = await open();
    await add('', 'dogs');
    await problem.first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await checkAccessibility(page)).toEqual([]);
    }
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  browserTest('removes a pet that the gateway rejects, and shows why at the field', async () => {
    const { page, cards, problem, add } = await open();
    await add('', 'dogs');
    await problem.getByText(/^Expected a whole number .*, received "dogs"/).waitFor();
    expect(await cards.count()).toBe(12);
    const described = page.locator('[aria-invalid="true"]').evaluateAll((controls) =>
      controls.map((control) => {
        const note = control.getAttribute('aria-describedby') ?? '';
        return [control.getAttribute('name'), document.getElementById(note)?.textContent];
      }),
    );
    expect(await described).toEqual([
      ['categoryId', 'Expected a whole number from -2^63 to 2^63-1, received "dogs".'],
    ]);
    const option = page.locator('#add option').first();
    const value = await option.evaluate((element) => element.getAttribute('value') ?? '');
    await option.evaluate((element) => element.setAttribute('value', 'lost'));
    await add('', '99999999999999999999');
    await problem.getByText('Expected one of available, pending, sold, received "lost".').waitFor();
    expect(await problem.count()).toBe(2);
    await option.evaluate((element, value) => element.setAttribute('value', value), value);
  });

  browserTest('shows a new pet, with every digit, before the gateway responds', async () => {
    const { page, cards, add, hold } = await open();
    const holding = hold('AddPet');
    await add('<b>Rex</b>', '9223372036854775807');
    const route = await holding;
    const card = cards.nth(12);
    expect(await card.innerText()).toMatch(
      /<b>Rex<\/b>\s+Category 9223372036854775807\s.*\sSaving/s,
    );
    await route.continue();
    await page.getByText('<b>Rex</b> was added as #13.').waitFor();
    expect(await card.innerText()).toContain('#13');
    expect(await cards.count()).toBe(13);
    expect(await page.locator('[aria-invalid="true"]').count()).toBe(0);
    await page.unroute('**/graphql');
  });

  browserTest('discards the data of a key when another key is used', async () => {
    const { page, cards, problem } = await open();
    await page.getByLabel('API key').fill('wrong-key');
    await page.getByRole('button', { name: 'Use key' }).click();
    await problem.getByText('This API key is not accepted.').first().waitFor();
    expect(await cards.count()).toBe(0);
    await page.getByLabel('API key').fill('demo-key');
    await page.getByRole('button', { name: 'Use key' }).click();
    await cards.nth(11).waitFor();
  });

  browserTest('offers to try again when the gateway cannot be reached', async () => {
    const { page, problem } = await open();
    await page.route('**/graphql', (route) => route.abort());
    await page.getByText('Sold').first().click();
    await problem.getByText('The gateway cannot be reached.').waitFor();
    await page.unroute('**/graphql');
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('2 pets').waitFor();
    expect(await problem.count()).toBe(0);
  });

  browserTest('shows the time to wait after a rate limit', async () => {
    const error = new ErrorResponse(429, 'Slow down.', { retryAfterMs: 2500 });
    const petStore = { ...(await openBuiltin()), listPets: () => Promise.reject(error) };
    await using opened = await openPage(petStore);
    await opened.problem.getByText('Too many requests.').waitFor();
    await opened.problem.getByText('Wait 3 s.').waitFor();
  });

  browserTest('shows the state of each demo key', async () => {
    await using opened = await openPage(await openBuiltin(':memory:', { timeoutMs: 500 }));
    const { page, cards, problem, add } = opened;
    const enter = async (key: string) => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Use key' }).click();
    };
    const states = page.getByLabel('Try a state');
    expect(await states.evaluate((list) => getComputedStyle(list).textTransform)).toBe('none');
    await states.selectOption('demo-empty');
    await page.getByText('There are no pets at the moment.').waitFor();
    expect(await page.getByLabel('API key').inputValue()).toBe('demo-empty');
    const problems = {
      'demo-unauthenticated': 'This API key is not accepted.',
      'demo-forbidden': 'The API key may not do this.',
      'demo-timeout': 'The store does not respond.Try again in a moment.',
      'demo-not-found': 'There is no such record.',
      'demo-conflict': 'The record has changed.',
      'demo-rate-limited': 'Too many requests.Wait 2 s.',
      'demo-unavailable': 'The store does not respond.Try again in a moment.',
      'demo-error': 'The pet store returned HTTP status 500.',
      'demo-invalid': 'The pet store sent a response that breaks its contract.',
    };
    for (const [key, text] of Object.entries(problems)) {
      await enter(key);
      await problem.filter({ hasText: text }).first().waitFor();
      expect(await cards.count(), key).toBe(0);
    }
    await enter('demo-empty');
    await page.getByText('There are no pets at the moment.').waitFor();
    await enter('demo-key');
    await cards.nth(11).waitFor();
    await enter('demo-slow');
    await page.getByText('Loading …').waitFor();
    expect(await cards.count()).toBe(0);
    expect(await page.locator('.placeholder').count()).toBe(9);
    await cards.nth(11).waitFor();
    // Every second request fails.
    await enter('demo-flaky');
    await cards.nth(11).waitFor();
    await enter('demo-flaky');
    await problem.getByRole('button', { name: 'Try again' }).click();
    await cards.nth(11).waitFor();
    expect(await problem.count()).toBe(0);
    await enter('demo-lost-write');
    await cards.nth(11).waitFor();
    await add('Rex', '1');
    await problem.getByText('The pet may have been added.').waitFor();
    await cards.nth(12).waitFor();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Rex was added as #13.').waitFor();
    expect([await cards.count(), await problem.count()]).toEqual([13, 0]);
  });

  browserTest('loads the list again when the response to a write is lost', async () => {
    await using opened = await openPage();
    const { cards, problem, add, hold } = opened;
    await cards.nth(11).waitFor();
    const holding = hold('AddPet');
    await add('Rex', '1');
    const route = await holding;
    await route.fetch();
    await route.abort();
    await problem.getByText('The pet may have been added.').waitFor();
    await cards.nth(12).getByText('#13').waitFor();
    await opened.page.unroute('**/graphql');
    // Sent unchanged, it is the same write.
    await add('Rex', '1');
    await opened.page.getByText('Rex was added as #13.').waitFor();
    expect([await cards.count(), await problem.count()]).toEqual([13, 0]);
    await add('Rex', '1');
    await opened.page.getByText('Rex was added as #14.').waitFor();
  });

  browserTest('shows the pets before the orders arrive or fail, in one request', async () => {
    const { petStore, release, calls } = holdingOrders(withoutOrders(await openBuiltin()));
    await using opened = await openPage(petStore);
    const { page, cards, service } = opened;
    await cards.nth(11).waitFor();
    expect(calls()).toBe(1);
    expect(await page.getByRole('region', { name: 'Orders' }).innerText()).toBe('Orders');
    release();
    await opened.problem.getByText(/^Request [0-9a-f-]{36}$/).waitFor();
    await cards.nth(11).waitFor();
    expect(service.requests()).toHaveLength(1);
  });
});
