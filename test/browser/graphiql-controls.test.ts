import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { createGraphiql } from '../../src/server/graphiql.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { execute, openGraphiql, openTab } from '../support/graphiql.ts';
import { openRest } from '../support/rest-gateway.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

const keyField = (page: Page) => page.getByLabel('API key');
const problemOf = (page: Page) => page.locator('#key-problem');
const focused = (page: Page) => page.locator(':focus');

describe('the controls of GraphiQL', { timeout: 120_000 }, () => {
  browserTest('use one key for all tabs, beside the run button', async () => {
    await using graphiql = await openGraphiql({ demoKey: undefined });
    const { page, result } = graphiql;
    await execute(page);
    await problemOf(page).getByText('Enter an API key.').waitFor();
    await keyField(page).fill('demo-key');
    for (const name of ['ListPets', 'Storefront']) {
      await openTab(page, name);
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
    }
    expect(await problemOf(page).innerText()).toBe('');
    const key = await keyField(page).boundingBox();
    const run = await page.getByRole('button', { name: 'Execute query' }).boundingBox();
    expect(Math.abs((key?.y ?? 0) - (run?.y ?? 100))).toBeLessThan(20);
  });

  browserTest('say beside the key that it is wrong, until it changes', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    const problem = problemOf(page);
    await keyField(page).fill('wrong-key');
    await execute(page);
    await problem.getByText('This API key is not accepted.').waitFor();
    await result.getByText('"UNAUTHENTICATED"').waitFor();
    expect(await keyField(page).getAttribute('aria-invalid')).toBe('true');
    await keyField(page).fill('dämö ключ');
    expect(await problem.innerText()).toBe('');
    await execute(page);
    await problem.getByText('An API key has only the characters').waitFor();
    await result.getByText('"message": "An API key has only').waitFor();
    await keyField(page).fill('demo-key');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect(await keyField(page).getAttribute('aria-invalid')).toBe('false');
  });

  browserTest('let a header of the tab replace the key', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
    await page.keyboard.insertText('{ "Authorization": "Bearer wrong-key" }');
    await execute(page);
    await result.getByText('"UNAUTHENTICATED"').waitFor();
    expect(await problemOf(page).innerText()).toBe('');
  });

  browserTest('say beside the key that it is wrong for a deferred field', async () => {
    await using graphiql = await openGraphiql();
    const { page } = graphiql;
    const part = (json: object) =>
      `\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(json)}\r\n---`;
    const errors = [{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }];
    await page.route('**/graphql', (route) =>
      route.fulfill({
        contentType: 'multipart/mixed; boundary="-"',
        body: `\r\n---${part({
          data: { pets: [] },
          pending: [{ id: '0', path: [] }],
          hasNext: true,
        })}${part({ completed: [{ id: '0', errors }], hasNext: false })}--\r\n`,
      }),
    );
    await execute(page);
    await problemOf(page).getByText('This API key is not accepted.').waitFor();
  });

  browserTest('forget the key when the page is reloaded', async () => {
    await using graphiql = await openGraphiql({ demoKey: undefined });
    const { page } = graphiql;
    await page.getByText("Kept in this page's memory only").waitFor();
    await keyField(page).fill('my-key');
    await execute(page);
    await problemOf(page).getByText('This API key is not accepted.').waitFor();
    const stored = () => page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })');
    await expect.poll(stored, { timeout: 10_000 }).toContain('ListPets');
    expect(await stored()).not.toContain('my-key');
    await page.reload();
    expect(await keyField(page).inputValue()).toBe('');
    await page.goto('about:blank');
    await page.goBack();
    expect(await keyField(page).inputValue()).toBe('');
  });

  browserTest('open a link with variables and the name of one of its operations', async () => {
    await using graphiql = await openGraphiql();
    const { page, result, sent, url } = graphiql;
    const query =
      'query One { pets(limit: 1) { id } }\nquery Two($id: ID!) { pet(id: $id) { id } }';
    const variables = '{ "id": 9007199254740993 }';
    const link = `${url}/graphql?${new URLSearchParams({ query, variables, operationName: 'Two' })}`;
    await page.goto(link);
    await page.getByRole('tab', { name: 'One', selected: true }).waitFor();
    expect(sent.filter((body) => !body.includes('__schema'))).toEqual([]);
    expect(page.url()).toBe(`${url}/graphql`);
    await page.locator('.graphiql-query-editor').getByText('Two').waitFor();
    await page.locator('[aria-roledescription="editor"]:focus').waitFor({ state: 'attached' });
    await page.keyboard.press('ControlOrMeta+Enter');
    await result.getByText('"NOT_FOUND"').waitFor();
    expect(JSON.parse(sent.at(-1) ?? '')).toMatchObject({ operationName: 'Two' });
    expect(sent.at(-1)).toContain('9007199254740993');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('Link copied, without the key.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link);
    // GraphiQL names the tab after the executed operation.
    const tabs = page.getByRole('tab');
    const opened = page.getByRole('tab', { name: 'Two', selected: true });
    await opened.waitFor();
    const count = await tabs.count();
    // GraphiQL stores its tabs half a second after a change, and selects the stored one for a link.
    const stored = () => page.evaluate('localStorage["graphiql:tabState"]');
    await expect.poll(stored, { timeout: 10_000 }).toContain('"title":"Two"');
    await page.goto(link);
    await opened.waitFor();
    expect(await tabs.count()).toBe(count);
  });

  browserTest('execute nothing at Ctrl-Enter in the Find box', async () => {
    await using graphiql = await openGraphiql();
    const { page, result, sent } = graphiql;
    await page.locator('.graphiql-query-editor .monaco-editor').click();
    await page.keyboard.press('ControlOrMeta+F');
    await page.locator('.find-widget textarea:focus').waitFor();
    await page.keyboard.press('ControlOrMeta+Enter');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect(sent.filter((body) => !body.includes('__schema'))).toHaveLength(1);
  });

  browserTest('open with stored tabs that are damaged', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    for (const tabs of ['{', '{}', '"x"']) {
      await page.addInitScript(`localStorage['graphiql:tabState'] = ${JSON.stringify(tabs)}`);
      await page.reload();
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
    }
  });

  browserTest('offer the link in the address bar where there is no clipboard', async () => {
    await using graphiql = await openGraphiql();
    const { page, url } = graphiql;
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.reload();
    await page.locator('.graphiql-query-editor').getByText('ListPets').waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The link is in the address bar, without the key.').waitFor();
    const link = new URL(page.url());
    expect(link.origin).toBe(url);
    expect(link.searchParams.get('query')).toContain('query ListPets');
    expect(link.searchParams.get('variables')).toBe('{\n  "limit": 5\n}');
    expect(link.href).not.toContain('demo-key');
  });

  browserTest('let the keyboard leave every editor', async () => {
    await using graphiql = await openGraphiql();
    const { page } = graphiql;
    await page.getByText('Esc then Tab leaves.').waitFor();
    await page.locator('.graphiql-query-editor').getByText('ListPets').waitFor();
    await page.getByRole('button', { name: 'Copy link' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{ pets { nam } }');
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
  });
});

/** The REST calls of a response, as the gateway lists them. */
const calls = [
  {
    path: ['pets'],
    operation: 'listPets',
    method: 'GET',
    pathTemplate: '/pets',
    status: 200,
    startMs: 0.4,
    durationMs: 20,
    retries: 0,
    bytes: 512,
    shared: false,
  },
  {
    path: ['one'],
    operation: 'getPet',
    method: 'GET',
    pathTemplate: '/pets/{petId}',
    status: null,
    startMs: 20.4,
    durationMs: 20,
    retries: 2,
    bytes: 0,
    shared: true,
  },
];

/** Serves GraphiQL, and a response with REST calls to every request with `x-petstore-explain: 1`. */
async function openExplained(explain: boolean) {
  const respond = createGraphiql({ apiKey: 'demo-key', explain, introspection: false });
  const server = await startUpstream(async ({ method, headers }, response) => {
    if (method === 'GET') {
      const page = await respond({ method, headers } as never);
      response.writeHead(page?.status ?? 404, page?.headers).end(page?.body);
      return;
    }
    const extensions = headers['x-petstore-explain'] === '1' ? { calls } : undefined;
    sendJson(response, 200, JSON.stringify({ data: { pets: [] }, extensions }));
  });
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${server.url}/graphql`);
  await page.locator('.graphiql-query-editor').getByText('ListPets').waitFor();
  return {
    page,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('the REST calls below the result', { timeout: 120_000 }, () => {
  browserTest('are shown as a waterfall if they are asked for', async () => {
    await using opened = await openExplained(true);
    const { page } = opened;
    const region = page.getByRole('region', { name: 'REST calls' });
    await execute(page);
    await page.locator('.result-window').getByText('"pets"').waitFor();
    expect(await region.count()).toBe(0);
    await page.getByRole('checkbox', { name: 'REST calls' }).check();
    await execute(page);
    await region.getByText('2 REST calls in 40.4 ms').waitFor();
    const cells = await region.locator('td').allInnerTexts();
    expect(cells.filter((text) => text.trim() !== '')).toEqual([
      ...['pets', 'GET /pets', '200', '20.0 ms, 512 B'],
      ...['one', 'GET /pets/{petId}', 'no response', '20.0 ms, 0 B, 2 retries, shared'],
    ]);
    const [first, second] = await Promise.all(
      [0, 1].map((index) => region.locator('rect').nth(index).boundingBox()),
    );
    expect(second?.width).toBeCloseTo(first?.width ?? 0, 0);
    expect(second?.x).toBeCloseTo((first?.x ?? 0) + (first?.width ?? 0), 0);
    await page.getByRole('checkbox', { name: 'REST calls' }).uncheck();
    expect(await region.count()).toBe(0);
  });

  browserTest('come from the gateway', async () => {
    await using service = await startUpstream((_request, response) =>
      sendJson(response, 200, '[{"id":1,"name":"Rex","categoryId":2,"status":"sold"}]'),
    );
    await using graphiql = await openGraphiql({ explain: true, petStore: openRest(service.url) });
    const { page } = graphiql;
    await keyField(page).fill('any-key');
    await page.getByRole('checkbox', { name: 'REST calls' }).check();
    await openTab(page, 'ListPets');
    await execute(page);
    const region = page.getByRole('region', { name: 'REST calls' });
    await region.getByText(/1 REST call in \d/).waitFor();
    await region.getByText('GET /pets').waitFor();
    await openTab(page, 'GetPet');
    expect(await region.count()).toBe(0);
  });

  browserTest('are not offered if the server does not list them', async () => {
    await using opened = await openExplained(false);
    expect(await opened.page.getByRole('checkbox', { name: 'REST calls' }).count()).toBe(0);
  });
});
