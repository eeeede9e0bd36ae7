import type { Page } from 'playwright-core';
import { afterAll, describe, expect, vi } from 'vitest';
import { ListPetsDocument, persistedHash } from '../../packages/client/src/index.ts';
import { createGateway, loadConfig } from '../../src/index.ts';
import { openPersistedDocuments } from '../../src/yoga/persisted-documents.ts';
import { checkAccessibility } from '../support/axe.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { owning } from '../support/dispose.ts';
import { startGateway } from '../support/gateway.ts';
import { copiedText, execute, openGraphiql, openTab } from '../support/graphiql.ts';
import { manifestFile } from '../support/manifest.ts';
import { mountInNode } from '../support/mounted.ts';
import { holdingOrders } from '../support/parts.ts';
import { openRest } from '../support/rest-gateway.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const keyField = (page: Page) => page.getByLabel('API key');
const problemOf = (page: Page) => page.locator('#key-problem');
const focused = (page: Page) => page.locator(':focus');
const storageOf = (page: Page) =>
  page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
/** GraphiQL stores its tabs half a second after a change. */
const isStored = (page: Page, text: string) =>
  vi.waitFor(async () => expect(await storageOf(page)).toContain(text));

/** Replaces the text of the variables or headers. */
async function write(page: Page, pane: 'Variables' | 'Headers', text: string): Promise<void> {
  await page.getByRole('button', { name: pane, exact: true }).click();
  await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  // Inserted at once, because the editor closes typed brackets and quotes.
  await page.keyboard.insertText(text);
}

/** Opens GraphiQL in front of a REST service, which is a gateway, and whose orders are held. */
async function openInFrontOfService() {
  const service = await startGateway();
  const { petStore, release } = holdingOrders(openRest(service.url));
  const opened = await openGraphiql({ petStore, explain: true });
  return {
    ...opened,
    release,
    ...owning(opened, service),
  };
}

describe('GraphiQL in Chromium', () => {
  let opening: ReturnType<typeof openInFrontOfService> | undefined;
  /** The page of these tests, each of which uses other tabs. */
  const open = () => {
    opening ??= openInFrontOfService();
    return opening;
  };
  afterAll(async () => (await opening)?.[Symbol.asyncDispose]());

  browserTest('runs its first tab with the demo key, and loads only its own files', async () => {
    const { page, result, requestedUrls, workers, url } = await open();
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect(requestedUrls.filter((requested) => new URL(requested).origin !== url)).toEqual([]);
    expect(new Set(workers)).toEqual(new Set(['blob:']));
    // The key is neither in URLs nor stored.
    expect([...requestedUrls, page.url()].join()).not.toContain('demo-key');
    await isStored(page, 'ListPets');
    expect(await storageOf(page)).not.toContain('demo-key');
  });

  browserTest('shows the parts of a response as they arrive', async () => {
    const { page, result, lines, release } = await open();
    await openTab(page, 'DeferredStorefront');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect(await result.innerText()).not.toContain('orders');
    const outcome = page.locator('#outcome');
    expect(await outcome.innerText()).toMatch(
      /^HTTP 200, \d+ bytes after [\d.]+ ms\. More to come\.$/,
    );
    release();
    await result.getByText('"orders"').waitFor();
    await outcome.getByText(/^HTTP 200 in [\d.]+ ms, \d+ bytes$/).waitFor();
    await result.getByText('"Biscuit"').waitFor();
    expect(lines.filter((line) => line.includes('DeferredStorefront'))).toHaveLength(1);
  });

  browserTest('sends and shows every digit, and where an error is', async () => {
    const { page, result, sent } = await open();
    await openTab(page, 'AddPet');
    await execute(page);
    await result.getByText('"9223372036854775807"').waitFor();
    await openTab(page, 'GetPet');
    const text =
      '{ "id": 9007199254740993, "note": "a, } // \\" b", /* , } */ "list": [1.10, -9223372036854775808,], } // the end';
    await write(page, 'Variables', text);
    await execute(page);
    await result.getByText('9007199254740993').first().waitFor();
    await result.getByText('"NOT_FOUND"').waitFor();
    await result.getByText('"line"').waitFor();
    const body = sent.at(-1) ?? '';
    expect(body).toContain('"id": 9007199254740993');
    expect(body).toContain('[1.10, -9223372036854775808]');
    expect(JSON.parse(body).variables.note).toBe('a, } // " b');
  });

  browserTest('fits a window of 390 pixels, with descriptions and reasons', async () => {
    const { page, result } = await open();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.reload();
    const query = page.locator('.graphiql-query-editor .monaco-editor').first();
    const lineHeight = 20;
    await vi.waitFor(async () =>
      expect((await query.boundingBox())?.height).toBeGreaterThan(8 * lineHeight),
    );
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const docs = page.locator('.graphiql-doc-explorer');
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    await docs.getByText('The pets in the store, in the order of the service.').waitFor();
    expect((await docs.boundingBox())?.width).toBeGreaterThan(330);
    await docs.getByRole('button', { name: 'Show Deprecated Fields' }).click();
    await docs.getByText(/removed on 2030-12-05; use pets\(status:\) instead/).waitFor();
    await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
    expect((await result.boundingBox())?.width).toBeGreaterThan(330);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.reload();
  });

  browserTest('says beside the key that it is wrong, until it changes', async () => {
    const { page, result } = await open();
    await openTab(page, 'ListPets');
    await keyField(page).fill('wrong-key');
    await execute(page);
    await problemOf(page).getByText('This API key is not accepted.').waitFor();
    await result.getByText('"UNAUTHENTICATED"').waitFor();
    expect(await keyField(page).getAttribute('aria-invalid')).toBe('true');
    await keyField(page).fill('dämö ключ');
    expect(await problemOf(page).innerText()).toBe('');
    await execute(page);
    await problemOf(page).getByText('An API key has only the characters').waitFor();
    await result.getByText('"message": "An API key has only').waitFor();
    await keyField(page).fill('demo-key');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect(await keyField(page).getAttribute('aria-invalid')).toBe('false');
    // A header of the tab replaces the key.
    await openTab(page, 'ListOrders');
    await write(page, 'Headers', '{ "Authorization": "Bearer wrong-key" }');
    await execute(page);
    await result.getByText('"UNAUTHENTICATED"').waitFor();
    expect(await problemOf(page).innerText()).toBe('');
  });

  browserTest('offers the demo keys, with which it runs a query, but no mutation', async () => {
    const { page, result, sent } = await open();
    const states = page.getByLabel('Try a state');
    const texts = await states.locator('option').allTextContents();
    expect(texts).toEqual(expect.arrayContaining(['Succeeds', 'RATE_LIMITED: HTTP 429']));
    await openTab(page, 'ListPets');
    // The second is run instead of the first, which has not ended.
    await states.selectOption('demo-timeout');
    await states.selectOption('demo-conflict');
    expect(await keyField(page).inputValue()).toBe('demo-conflict');
    await result.getByText('"CONFLICT"').waitFor();
    await openTab(page, 'AddPet');
    const count = sent.length;
    await states.selectOption('demo-lost-write');
    await page.getByText('Press ▶ to run the operation with this key.').waitFor();
    await execute(page);
    await result.getByText('"UNKNOWN"').waitFor();
    expect(sent).toHaveLength(count + 1);
    const hidden = String.raw`{ a(b: """ \""" """) } mutation M { c(d: """ " """) }`;
    const kinds = `operationsOf(${JSON.stringify(hidden)}).map(({ kind }) => kind)`;
    expect(await page.evaluate(kinds)).toEqual(['query', 'mutation']);
    await openTab(page, 'ListPets');
    await states.selectOption('demo-key');
    await result.getByText('"Biscuit"').waitFor();
  });

  browserTest('executes at Enter in the key field, and at Ctrl-Enter anywhere', async () => {
    const { page, result, sent } = await open();
    // Focus is where the page begins.
    await page.reload();
    await page.keyboard.press('Tab');
    await page.locator('#skip:focus').press('Enter');
    await page.locator('#key:focus').waitFor();
    const states = page.getByLabel('Try a state');
    await openTab(page, 'ListPets');
    await keyField(page).fill('demo-conflict');
    await keyField(page).press('Enter');
    await result.getByText('"CONFLICT"').waitFor();
    await keyField(page).fill(' Authorization: bearer  demo-key');
    expect(await keyField(page).inputValue()).toBe('demo-key');
    const count = sent.length;
    await keyField(page).press('ControlOrMeta+Enter');
    await result.getByText('"Biscuit"').waitFor();
    await states.focus();
    // Held down: the second would stop the first.
    await page.keyboard.down('ControlOrMeta');
    for (let times = 0; times < 3; times++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.keyboard.up('ControlOrMeta');
    await result.getByText('"Biscuit"').waitFor();
    await vi.waitFor(() => expect(sent).toHaveLength(count + 2));
  });

  browserTest('shows what a proxy and a later part of a response say', async () => {
    const { page, result } = await open();
    const respond = (status: number, contentType: string, body: string) =>
      page.route('**/graphql', (route) => route.fulfill({ status, contentType, body }));
    await openTab(page, 'Storefront');
    await respond(502, 'text/html', '<h1>Bad gateway</h1>');
    await execute(page);
    await result.getByText('Expected JSON, received text/html with the status 502.').waitFor();
    const part = (json: object) =>
      `\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(json)}\r\n---`;
    const errors = [{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }];
    const parts = [
      part({ data: { pets: [] }, pending: [{ id: '0', path: [] }], hasNext: true }),
      part({ completed: [{ id: '0', errors }], hasNext: false }),
    ];
    await page.unroute('**/graphql');
    await respond(200, 'multipart/mixed; boundary="-"', `\r\n---${parts.join('')}--\r\n`);
    await execute(page);
    await problemOf(page).getByText('This API key is not accepted.').waitFor();
    await page.unroute('**/graphql');
  });

  /** Of phones, tablets and desktops; 640 × 400 is a window of 1280 × 800 at 200 %. */
  const sizes = [
    [320, 568],
    [375, 812],
    [640, 400],
    [768, 1024],
    [900, 700],
    [1024, 768],
    [1280, 800],
    [1440, 900],
    [1920, 1080],
  ];

  browserTest(
    'shows the REST calls below the result, fits nine windows, and passes axe-core',
    async () => {
      const { page, result } = await open();
      const region = page.getByRole('region', { name: 'REST calls' });
      const box = page.getByRole('checkbox', { name: 'REST calls' });
      // A demo shows them.
      expect(await box.isChecked()).toBe(true);
      await box.uncheck();
      expect(await region.count()).toBe(0);
      await box.check();
      await openTab(page, 'ListPets');
      await execute(page);
      await region.getByText(/1 REST call in \d/).waitFor();
      await region.getByText('GET /v1/pets?limit=5').waitFor();
      expect(await result.innerText()).not.toContain('extensions');
      await page.getByText(/^HTTP 200 in \d.* ms, \d+ bytes$/).waitFor();
      await openTab(page, 'SendMessage');
      expect(await region.count()).toBe(0);
      await page.getByText('Press ▶ to run the operation.').waitFor();
      await openTab(page, 'ListPets');
      await region.getByText('GET /v1/pets?limit=5').waitFor();
      await page.evaluate(`showCalls([
      { path: ['pets'], operation: 'listPets', method: 'GET', target: '/v1/pets', status: 200,
        startMs: 0.4, durationMs: 20, retries: 0, bytes: 512, shared: false },
      { path: ['one'], operation: 'getPet', method: 'GET', target: '/v1/pets/7', status: null,
        startMs: 20.4, durationMs: 20, retries: 2, builtin: true, shared: true },
    ])`);
      await region.getByText('2 REST calls in 40.4 ms').waitFor();
      const cells = await region.locator('td').allInnerTexts();
      expect(cells.filter((text) => text.trim() !== '')).toEqual([
        ...['pets', 'GET /v1/pets', '200', '20.0 ms, 512 B'],
        ...['one', 'GET /v1/pets/7', 'no response', '20.0 ms, built-in, 2 retries, shared'],
      ]);
      await page.evaluate(`reportKey('Enter an API key.')`);
      // GraphiQL's own findings, which docs/graphiql.md lists: its tabs, and the colors of its editors.
      const own = '[role="tablist"], [role="tab"], .graphiql-tabs, [data-uri]';
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await checkAccessibility(page, own)).toEqual([]);
        const rules = (await checkAccessibility(page)).map((finding) =>
          finding.split(' ', 2).join(' '),
        );
        expect(rules).toEqual(expect.arrayContaining(['serious nested-interactive']));
        const listed = new Set(['serious color-contrast', 'serious nested-interactive']);
        expect(new Set(rules).difference(listed)).toEqual(new Set());
      }
      for (const [width = 0, height = 0] of sizes) {
        await page.setViewportSize({ width, height });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect([width, await checkAccessibility(page, own)]).toEqual([width, []]);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole('checkbox', { name: 'REST calls' }).uncheck();
      expect(await region.count()).toBe(0);
    },
  );

  browserTest('completes documents, and lets the keyboard leave every editor', async () => {
    const { page, sent } = await open();
    await openTab(page, 'SendMessage');
    await page.getByRole('link', { name: 'REST reference' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{ pets { nam } }');
    await page.locator('.graphiql-query-editor .squiggly-error').waitFor();
    for (let count = 0; count < 4; count++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ControlOrMeta+Space');
    const editor = page.getByRole('textbox', { name: 'Editor content' }).first();
    await page.locator('.suggest-widget').getByText('name', { exact: true }).first().waitFor();
    await page.keyboard.press('Escape');
    expect(await editor.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await focused(page).getAttribute('aria-label')).toContain('Execute query');
    const visited = new Set<string | null>();
    for (let count = 0; count < 40; count++) {
      const element = focused(page);
      visited.add((await element.getAttribute('aria-label')) ?? (await element.textContent()));
      await page.keyboard.press('Tab');
      if ((await focused(page).count()) === 0) break;
    }
    expect([...visited]).toEqual(expect.arrayContaining(['Variables', 'Headers', 'Result Window']));
    // Ctrl-Enter in the Find box executes nothing.
    const count = sent.length;
    await page.locator('.graphiql-query-editor .monaco-editor').click();
    await page.keyboard.press('ControlOrMeta+F');
    await page.locator('.find-widget textarea:focus').waitFor();
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.keyboard.press('Escape');
    await openTab(page, 'ListPets');
    await execute(page);
    await vi.waitFor(() => expect(sent.at(-1)).toContain('ListPets'));
    expect(sent).toHaveLength(count + 1);
  });

  browserTest('copies and opens links, without the key', async () => {
    const { page, result, sent, url } = await open();
    const query =
      'query One { pets(limit: 1) { id } }\nquery Two($id: ID!) { pet(id: $id) { id } }';
    const variables = '{ "id": 9007199254740993 }';
    const link = `${url}/graphql?${new URLSearchParams({ query, variables, operationName: 'Two' })}`;
    const count = sent.length;
    await page.goto(link);
    await page.getByRole('tab', { name: 'One', selected: true }).waitFor();
    expect(sent.slice(count).filter((body) => !body.includes('__schema'))).toEqual([]);
    expect(page.url()).toBe(`${url}/graphql`);
    await page.locator('.graphiql-query-editor').getByText('Two').waitFor();
    await page.locator('[aria-roledescription="editor"]:focus').waitFor({ state: 'attached' });
    await page.keyboard.press('ControlOrMeta+Enter');
    await result.getByText('"NOT_FOUND"').waitFor();
    expect(JSON.parse(sent.at(-1) ?? '')).toMatchObject({ operationName: 'Two' });
    expect(sent.at(-1)).toContain('9007199254740993');
    await page.getByLabel('Copy the operation').selectOption('Link');
    await page.getByText('Copied as Link.').waitFor();
    expect(await copiedText(page)).toBe(link);
    // GraphiQL names the tab after the executed operation, and selects the stored one for a link.
    const tabs = page.getByRole('tab');
    const opened = page.getByRole('tab', { name: 'Two', selected: true });
    await opened.waitFor();
    const before = await tabs.count();
    await isStored(page, '\\"title\\":\\"Two\\"');
    await page.goto(link);
    await opened.waitFor();
    expect(await tabs.count()).toBe(before);
    // The operation at the cursor.
    const editor = page.locator('.graphiql-query-editor');
    await editor.getByText('One', { exact: true }).click();
    await page.getByLabel('Copy the operation').selectOption('Link');
    await vi.waitFor(async () =>
      expect(await copiedText(page)).toBe(link.replace('operationName=Two', 'operationName=One')),
    );
  });

  browserTest('restores its tabs after a reload, even if what is stored is damaged', async () => {
    const { page, result, url } = await open();
    const tabs = () => page.getByRole('tab').allInnerTexts();
    await openTab(page, 'AddPet');
    const before = await tabs();
    await isStored(page, `\\"activeTabIndex\\":${before.indexOf('AddPet')}`);
    await page.goto(`${url}/graphql`);
    await page.getByRole('tab', { name: 'AddPet', selected: true }).waitFor();
    expect(await tabs()).toEqual(before);
    for (const damaged of ['{', '{}', '"x"']) {
      await page.addInitScript(`localStorage['graphiql:tabState'] = ${JSON.stringify(damaged)}`);
      await page.reload();
      await page.getByRole('tab', { name: 'ListPets', selected: true }).waitFor();
    }
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
  });
});

describe('GraphiQL without introspection, EXPLAIN and a demo key', () => {
  browserTest('asks for a key, uses it for all tabs, and forgets it', async () => {
    await using opened = await openGraphiql({ demoKey: undefined, introspection: false });
    const { page, result, sent } = opened;
    await page.getByText('Introspection is off').waitFor();
    expect(await page.getByRole('checkbox', { name: 'REST calls' }).count()).toBe(0);
    await page.getByText('Your key is not stored.').waitFor();
    expect(await keyField(page).getAttribute('type')).toBe('password');
    expect(await page.getByLabel('Try a state').isVisible()).toBe(false);
    await execute(page);
    await problemOf(page).getByText('Enter an API key.').waitFor();
    await keyField(page).fill('demo-key');
    for (const name of ['ListPets', 'Storefront']) {
      await openTab(page, name);
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
    }
    expect(await problemOf(page).innerText()).toBe('');
    await isStored(page, 'Storefront');
    expect(await storageOf(page)).not.toContain('demo-key');
    expect(sent.filter((body) => body.includes('__schema'))).toEqual([]);
    const notes: string[] = [];
    page.on('console', (note) => notes.push(note.text()));
    await page.reload();
    await page.getByRole('button', { name: 'Execute query' }).waitFor();
    expect(await keyField(page).inputValue()).toBe('');
    expect(notes).toEqual([]);
    await page.goto('about:blank');
    await page.goBack();
    expect(await keyField(page).inputValue()).toBe('');
  });
});

describe('GraphiQL while it loads', () => {
  browserTest('leaves its lists and Ctrl-Enter until there is an editor', async () => {
    await using opened = await openGraphiql();
    const { page, result, url } = opened;
    const problems: Error[] = [];
    page.on('pageerror', (problem) => problems.push(problem));
    await page.addInitScript(() => {
      document.addEventListener('DOMContentLoaded', () => {
        const controlEnter = { key: 'Enter', ctrlKey: true, bubbles: true };
        document.body.dispatchEvent(new KeyboardEvent('keydown', controlEnter));
      });
    });
    await page.goto(`${url}/graphql`, { waitUntil: 'commit' });
    await page.getByLabel('Try a state').selectOption('demo-conflict');
    await result.getByText('"CONFLICT"').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('GraphiQL with introspection for keys', () => {
  browserTest('loads the schema once there is a key', async () => {
    await using opened = await openGraphiql({ demoKey: undefined, introspection: 'keys' });
    const { page } = opened;
    await problemOf(page).getByText('Enter an API key.').waitFor();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const query = page.locator('.graphiql-doc-explorer').getByText('Query', { exact: true });
    expect(await query.count()).toBe(0);
    await keyField(page).fill('demo-key');
    await keyField(page).blur();
    await query.first().waitFor();
    expect(await page.getByText('Introspection is off').count()).toBe(0);
  });
});

describe('GraphiQL in another server', () => {
  browserTest('requests only its path, runs no injected script, is not framed', async () => {
    await using gateway = await createGateway(
      loadConfig({ DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' }),
    );
    await using server = await mountInNode(gateway);
    await using browser = await openBrowser();
    const page = await browser.newPage();
    const url = `${server.url}/api/graphql`;
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(url);
    await execute(page);
    await page.locator('.result-window').getByText('"Biscuit"').waitFor();
    const isOutside = (one: string) => !one.startsWith(url) && !/^(?:blob|data):/.test(one);
    expect(requested.filter(isOutside)).toEqual([]);
    const runs = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.injected = true';
      document.body.append(script);
      return 'injected' in window;
    });
    expect(runs).toBe(false);
    await page.route('**/framing', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<iframe src="/api/graphql"></iframe>' }),
    );
    await page.goto(`${server.url}/framing`);
    const [frame] = page.frames().filter((other) => other !== page.mainFrame());
    expect(frame?.url()).toMatch(/^chrome-error:/);
  });
});

describe('GraphiQL where it is off', () => {
  browserTest('is replaced by an explanation', async () => {
    await using production = await startGateway({ graphiql: false });
    await using service = await startGateway({
      graphiql: true,
      persistedDocuments: await openPersistedDocuments({ mode: 'only', files: [manifestFile] }),
    });
    await using browser = await openBrowser();
    const page = await browser.newPage();
    for (const { url } of [production, service]) {
      const response = await page.goto(url);
      expect([page.url(), response?.status()]).toEqual([`${url}/graphql`, 404]);
      await page.getByRole('heading', { name: 'GraphiQL is off' }).waitFor();
      expect(await checkAccessibility(page)).toEqual([]);
    }
    const link = await page.goto(
      `${service.url}/graphql?documentId=${persistedHash(ListPetsDocument)}`,
    );
    expect(await link?.json()).toMatchObject({ errors: [{ path: ['pets'] }] });
  });
});
