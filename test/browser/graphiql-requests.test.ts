import type { Page } from 'playwright-core';
import { describe, expect, vi } from 'vitest';
import { checkAccessibility } from '../support/axe.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';
import { execute, openGraphiql, openTab } from '../support/graphiql.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Holds the responses of an operation until they are released, or their request is aborted. */
async function hold(page: Page, operation: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes(operation)) await promise;
    await route.continue().catch(() => undefined);
  });
  return resolve;
}

/** GraphiQL's own tabs and editors, whose findings docs/graphiql.md lists. */
const ofGraphiql = '[role="tablist"], [role="tab"], .graphiql-tabs, [data-uri]';
const outcome = (page: Page) => page.locator('#outcome');
const isAborted = (page: Page) =>
  page.waitForEvent('requestfailed', (request) => request.method() === 'POST');
const leave = {
  'is left for another': (page: Page) => page.getByRole('button', { name: 'GetPet' }).click(),
  'is left for a new one': (page: Page) => page.getByLabel('New tab').click(),
  'is closed': (page: Page) => page.getByLabel('Close tab ListOrders').click(),
  'is left because a later one is closed': async (page: Page) => {
    await page.getByRole('button', { name: 'SendMessage', exact: true }).hover();
    await page.getByLabel('Close tab SendMessage').click();
  },
  'is stopped': (page: Page) => page.getByRole('button', { name: 'Stop query' }).click(),
};

describe('GraphiQL', () => {
  for (const [how, act] of Object.entries(leave)) {
    browserTest(
      `aborts a request when its tab ${how}, and shows nothing of it elsewhere`,
      async () => {
        await using opened = await openGraphiql();
        const { page, result } = opened;
        const name = how === 'is stopped' ? 'AddPet' : 'ListOrders';
        const release = await hold(page, name);
        await openTab(page, name);
        await execute(page);
        await outcome(page).getByText('No response yet.').waitFor();
        const aborted = isAborted(page);
        await act(page);
        await aborted;
        release();
        await page.getByRole('button', { name: 'Execute query' }).waitFor();
        const line = how === 'is stopped' ? 'Stopped.' : 'Press ▶';
        await outcome(page).getByText(line).waitFor();
        // The next operation has its own result.
        if (how === 'is stopped') await openTab(page, 'ListPets');
        await page.getByRole('button', { name: 'ListPets', exact: true }).click();
        await page.waitForFunction(() => localStorage['graphiql:query']?.includes('ListPets'));
        await execute(page);
        await result.getByText('"Biscuit"').waitFor();
        expect(await result.innerText()).not.toMatch(/orders|addPet/);
        if (how === 'is closed') return;
        await page.getByRole('button', { name, exact: true }).click();
        const write = ' The mutation may have been carried out.';
        const stopped = `Stopped.${how === 'is stopped' ? write : ''}`;
        await outcome(page).getByText(stopped, { exact: true }).waitFor();
        // GraphiQL shows the editors of a tab some time after its outcome.
        await vi.waitFor(async () => expect(await result.innerText()).not.toContain('Biscuit'));
      },
    );
  }

  browserTest('says of a stopped operation whether it is a mutation', async () => {
    await using opened = await openGraphiql();
    const { page, url } = opened;
    await hold(page, 'Write');
    const query = 'query Read { orders }\nmutation Write { sendMessage(message: "Hi") { id } }';
    for (const [operationName, line] of [
      ['Read', 'Stopped.'],
      ['Write', 'Stopped. The mutation may have been carried out.'],
    ] as const) {
      await page.goto(`${url}/graphql?${new URLSearchParams({ query, operationName })}`);
      await page
        .locator('.graphiql-query-editor')
        .getByText(operationName, { exact: true })
        .waitFor();
      await page.locator('[aria-roledescription="editor"]:focus').waitFor({ state: 'attached' });
      await page.keyboard.press('ControlOrMeta+Enter');
      await outcome(page).getByText('No response yet.').waitFor();
      await leave['is stopped'](page);
      await outcome(page).getByText(line, { exact: true }).waitFor();
    }
  });

  browserTest('says of a key only what the response to that key says', async () => {
    await using opened = await openGraphiql();
    const { page, result } = opened;
    const release = await hold(page, 'ListPets');
    await page.getByLabel('API key').fill('wrong-key');
    await execute(page);
    await page.getByLabel('API key').fill('demo-key');
    release();
    await result.getByText('"UNAUTHENTICATED"').waitFor();
    expect(await page.locator('#key-problem').innerText()).toBe('');
  });

  browserTest('shows every number as it was sent, in one response and in parts', async () => {
    await using opened = await openGraphiql();
    const { page, result } = opened;
    const numbers = ['1e+16', '1e400', '12345678901234567.0', '-9223372036854775809', '1.10', '-0'];
    const part = (json: string) => `\r\nContent-Type: application/json\r\n\r\n${json}\r\n---`;
    const orders = `"orders":[${numbers.join()}]`;
    const whole = { contentType: 'application/json', body: `{"data":{${orders}}}` };
    const first = '{"data":{"a":1e2},"pending":[{"id":"0","path":[]}],"hasNext":true}';
    const last = `{"incremental":[{"id":"0","data":{${orders}}}],"completed":[{"id":"0"}],"hasNext":false}`;
    const parts = {
      contentType: 'multipart/mixed; boundary="-"',
      body: `\r\n---${part(first)}${part(last)}--\r\n`,
    };
    for (const response of [whole, parts]) {
      await page.route('**/graphql', (route) => route.fulfill({ status: 200, ...response }));
      await execute(page);
      await result.getByText('1e400').waitFor();
      for (const number of numbers) await result.getByText(number, { exact: true }).waitFor();
      await page.unroute('**/graphql');
    }
    await result.getByText('1e2', { exact: true }).waitFor();
    // Of older browsers, GraphiQL's own functions keep integers.
    await page.addInitScript('delete JSON.rawJSON');
    await page.reload();
    const body = '{"data":{"orders":[9007199254740993]}}';
    await page.route('**/graphql', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ contentType: 'application/json', body })
        : route.continue(),
    );
    await execute(page);
    await result.getByText('9007199254740993').waitFor();
  });

  browserTest('opens without storage, and with full storage', async () => {
    await using service = await startGateway({ graphiql: true, demoKey: 'demo-key' });
    await using browser = await openBrowser();
    const run = async (page: Page) => {
      await page.goto(`${service.url}/graphql`);
      await page.getByRole('tab', { name: 'ListPets', selected: true }).waitFor();
      await execute(page);
      await page.locator('.result-window').getByText('"Biscuit"').waitFor();
    };
    const forbidden = await browser.newPage();
    await forbidden.addInitScript(() =>
      Object.defineProperty(window, 'localStorage', {
        get: () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      }),
    );
    await run(forbidden);
    const full = await browser.newPage();
    await full.goto(`${service.url}/livez`);
    await full.evaluate(() => {
      for (let size = 2 ** 22; size >= 1; size /= 2) {
        try {
          for (;;) localStorage[`full-${size}-${localStorage.length}`] = 'x'.repeat(size);
        } catch {}
      }
    });
    await run(full);
  });

  browserTest('copies on a page of http that is not of this machine', async () => {
    await using opened = await openGraphiql();
    const { page } = opened;
    // There, browsers have no `navigator.clipboard`.
    await page.addInitScript(() => {
      Object.assign(window, { clipboard: navigator.clipboard });
      Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
    });
    await page.reload();
    for (const format of ['Link', 'curl']) {
      // Again if another page has used the clipboard in between.
      await vi.waitFor(async () => {
        await page.getByLabel('Copy the operation').selectOption(format);
        await page.getByText(`Copied as ${format}.`).waitFor();
        const copied = await page.evaluate<string>('clipboard.readText()');
        expect(copied).toContain(format === 'curl' ? "curl 'http" : '?query=');
      });
    }
  });

  browserTest('is dark at once, and shows its run button in forced colors', async () => {
    await using service = await startGateway({ graphiql: true });
    await using browser = await openBrowser();
    const early = await browser.newPage({ colorScheme: 'dark', javaScriptEnabled: false });
    await early.goto(`${service.url}/graphql`);
    const canvas = `document.documentElement.style.background = 'Canvas';
      getComputedStyle(document.documentElement).backgroundColor`;
    expect(await early.evaluate(canvas)).toBe('rgb(18, 18, 18)');
    const forced = await browser.newPage({ forcedColors: 'active' });
    await forced.goto(`${service.url}/graphql`);
    const run = forced.getByRole('button', { name: 'Execute query' });
    const colors = await run.evaluate((button) => [
      getComputedStyle(button).backgroundColor,
      getComputedStyle(button.firstElementChild ?? button).color,
    ]);
    expect(new Set(colors).size).toBe(2);
  });

  browserTest('lists what was executed, and opens closed examples again', async () => {
    await using opened = await openGraphiql();
    const { page, result } = opened;
    await openTab(page, 'GetPet');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    await page.getByLabel('Close tab GetPet').click();
    await page.reload();
    const list = page.getByLabel('Open an operation');
    for (const [group, name] of [
      ['Examples', 'SendMessage'],
      ['History', 'GetPet'],
    ] as const) {
      const option = list.locator(`optgroup[label="${group}"] option`, { hasText: name });
      await list.selectOption(await option.getAttribute('value'));
      await page.getByRole('tab', { name, selected: true }).waitFor();
    }
    await page.waitForFunction(() => localStorage['graphiql:query']?.includes('GetPet'));
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
  });

  browserTest('fits small and zoomed windows, without cutting columns or the key', async () => {
    await using opened = await openGraphiql({ explain: true });
    const { page, result } = opened;
    const height = async (selector: string) =>
      (await page.locator(selector).first().boundingBox())?.height ?? 0;
    const lineHeight = 20;
    for (const [width, windowHeight, lines] of [
      [844, 390, 8],
      [720, 450, 8],
      [768, 1024, 8],
      [1024, 768, 8],
      [390, 844, 6],
      [450, 600, 6],
    ] as const) {
      await page.setViewportSize({ width, height: windowHeight });
      await page.reload();
      await openTab(page, 'Storefront');
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
      const { y = 0, height: shown = 0 } = (await result.boundingBox()) ?? {};
      expect(y + shown).toBeLessThan(windowHeight);
      const clipped = page.locator('.monaco-editor .overflow-guard').first();
      expect(await clipped.evaluate((guard) => getComputedStyle(guard).overflowY)).toBe('clip');
      const isSmall = width <= 900;
      const open = page.locator('#calls details[open]');
      expect(await open.count()).toBe(isSmall ? 0 : 1);
      expect(await height('.graphiql-query-editor .monaco-editor')).toBeGreaterThan(8 * lineHeight);
      expect(await height('.result-window')).toBeGreaterThan(lines * lineHeight);
      if (isSmall) await page.getByText(/3 REST calls in/).click();
      await open.getByText('GET /v1/store/orders').waitFor();
      expect(
        await page
          .locator('#calls')
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
      ).toBe(0);
      expect((await page.getByLabel('API key').boundingBox())?.width).toBeGreaterThan(110);
      await page.getByText('API key', { exact: true }).click();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await checkAccessibility(page, ofGraphiql)).toEqual([]);
    }
  });
});
