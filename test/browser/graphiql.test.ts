import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { ListPetsDocument, persistedHash } from '../../packages/client/src/index.ts';
import { openPersistedDocuments } from '../../src/server/graphql/persisted-documents.ts';
import { checkAccessibility } from '../support/axe.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { execute, openGraphiql, openTab } from '../support/graphiql.ts';
import { manifestFile } from '../support/manifest.ts';
import { holdingOrders } from '../support/parts.ts';

/** Replaces the text of the variables. */
async function writeVariables(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Variables', exact: true }).click();
  await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  // Inserted at once, because the editor closes typed brackets and quotes.
  await page.keyboard.insertText(text);
}

describe('GraphiQL in Chromium', { timeout: 60_000 }, () => {
  browserTest(
    'runs its first tab with the demo key, and loads nothing from elsewhere',
    async () => {
      await using graphiql = await openGraphiql();
      const { page, result, requestedUrls, url } = graphiql;
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
      const external = requestedUrls.filter((requested) => new URL(requested).origin !== url);
      expect(external).toEqual([]);
      // The key is neither in URLs nor stored.
      const urls = [...requestedUrls, page.url()];
      expect(urls.filter((url) => url.includes('demo-key'))).toEqual([]);
      const stored = () => page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })');
      await expect.poll(stored, { timeout: 10_000 }).toContain('ListPets');
      expect(await stored()).not.toContain('demo-key');
    },
  );

  browserTest('completes fields and checks documents in its workers', async () => {
    await using graphiql = await openGraphiql();
    const { page } = graphiql;
    const workers = new Set<string>();
    page.on('worker', (worker) => workers.add(new URL(worker.url()).protocol));
    await page.reload();
    const editor = page.locator('.graphiql-query-editor');
    await editor.getByText('ListPets').waitFor();
    await editor.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText('{ pets { nam } }');
    await editor.locator('.squiggly-error').waitFor();
    for (let count = 0; count < 4; count++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ControlOrMeta+Space');
    await page.locator('.suggest-widget').getByText('name', { exact: true }).first().waitFor();
    expect([...workers]).toEqual(['blob:']);
  });

  browserTest('runs no injected script and can not be framed', async () => {
    await using service = await startGateway({ graphiql: true });
    await using browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(`${service.url}/graphql`);
    const runs = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.injected = true';
      document.body.append(script);
      return 'injected' in window;
    });
    expect(runs).toBe(false);
    const framing = await browser.newPage();
    await framing.route('**/framing', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<iframe src="/graphql"></iframe>' }),
    );
    await framing.goto(`${service.url}/framing`);
    const [frame] = framing.frames().filter((other) => other !== framing.mainFrame());
    expect(frame?.url()).toMatch(/^chrome-error:/);
  });

  browserTest('restores its tabs after a reload', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    const tabs = () => page.getByRole('tab').allInnerTexts();
    const stored = () => page.evaluate('localStorage["graphiql:tabState"]');
    const selected = (name: string) => page.getByRole('tab', { name, selected: true }).waitFor();
    await selected('ListPets');
    const before = await tabs();
    await expect.poll(stored, { timeout: 10_000 }).toContain('"activeTabIndex":0');
    await page.reload();
    await selected('ListPets');
    expect(await tabs()).toEqual(before);
    await openTab(page, 'Storefront');
    await expect.poll(stored, { timeout: 10_000 }).toContain('"activeTabIndex":1');
    await page.reload();
    await selected('Storefront');
    expect(await tabs()).toEqual(before);
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
  });

  browserTest('shows the parts of a response as they arrive', async () => {
    const { petStore, release } = holdingOrders(await openBuiltin());
    await using graphiql = await openGraphiql({ petStore });
    const { page, result } = graphiql;
    await openTab(page, 'DeferredStorefront');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect(await result.innerText()).not.toContain('orders');
    release();
    await result.getByText('"orders"').waitFor();
    await result.getByText('"Biscuit"').waitFor();
    const entries = graphiql.lines.filter((line) => line.includes('DeferredStorefront'));
    expect(entries).toHaveLength(1);
  });

  browserTest('adds and lists an animal with every digit of its category id', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    await openTab(page, 'AddPet');
    await execute(page);
    await result.getByText('"9223372036854775807"').waitFor();
    await result.getByText('"13"').waitFor();
    await openTab(page, 'ListPets');
    await writeVariables(page, '{ "limit": 100 }');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    await result.click();
    await page.keyboard.press('ControlOrMeta+End');
    await result.getByText('"13"').waitFor();
    await result.getByText('"9223372036854775807"').waitFor();
  });

  browserTest('shows descriptions, deprecated fields and the reasons', async () => {
    await using graphiql = await openGraphiql();
    const { page } = graphiql;
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const docs = page.locator('.graphiql-doc-explorer');
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    await docs.getByText('The animals in the store, in the order of the service.').waitFor();
    await docs.getByRole('button', { name: 'Show Deprecated Fields' }).click();
    await docs.getByText(/removed on 2030-12-05; use pets\(status:\) instead/).waitFor();
    await docs.getByRole('link', { name: 'pets', exact: true }).click();
    await docs.getByText('from 1 to 100; 20 if omitted or null.').waitFor();
  });

  browserTest('opens a tab at the first click in a new browser profile', async () => {
    await using graphiql = await openGraphiql();
    const { page } = graphiql;
    const editor = page.locator('.graphiql-query-editor');
    await editor.getByText('ListPets').waitFor();
    for (const name of ['AddPet', 'Storefront', 'SendMessage']) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('tab', { name, selected: true }).waitFor({ timeout: 5000 });
      await editor.getByText(name).first().waitFor();
    }
  });

  browserTest(
    'sends every digit of numbers in variables, and shows where an error is',
    async () => {
      await using graphiql = await openGraphiql();
      const { page, result, sent } = graphiql;
      await openTab(page, 'GetPet');
      const text =
        '{ "id": 9007199254740993, "note": "a, } // \\" b", /* , } */ "list": [1.10, -9223372036854775808,], } // the end';
      await writeVariables(page, text);
      await execute(page);
      await result.getByText('9007199254740993').first().waitFor();
      await result.getByText('"NOT_FOUND"').waitFor();
      await result.getByText('"locations"').waitFor();
      await result.getByText('"line"').waitFor();
      const body = sent.at(-1) ?? '';
      expect(body).toContain('"id": 9007199254740993');
      expect(body).toContain('[1.10, -9223372036854775808]');
      expect(JSON.parse(body).variables.note).toBe('a, } // " b');
    },
  );

  browserTest('shows the type and status of a response that is not JSON', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    const body = '<h1>Bad gateway</h1>';
    await page.route('**/graphql', (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body }),
    );
    await execute(page);
    await result.getByText('Expected JSON, received text/html with the status 502.').waitFor();
  });

  browserTest(
    'runs operations, and sends no introspection query if introspection is off',
    async () => {
      await using graphiql = await openGraphiql({ introspection: false });
      const { page, result, sent } = graphiql;
      await page.getByText('Introspection is off').waitFor();
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
      expect(sent.filter((body) => body.includes('__schema'))).toEqual([]);
    },
  );

  browserTest(
    'is replaced by an explanation if only persisted documents are accepted',
    async () => {
      await using service = await startGateway({
        graphiql: true,
        persistedDocuments: await openPersistedDocuments({ mode: 'only', files: [manifestFile] }),
      });
      await using browser = await openBrowser();
      const page = await browser.newPage();
      const response = await page.goto(`${service.url}/graphql`);
      expect(response?.status()).toBe(404);
      await page.getByRole('heading', { name: 'GraphiQL is off' }).waitFor();
      expect(await checkAccessibility(page)).toEqual([]);
      const link = await page.goto(
        `${service.url}/graphql?documentId=${persistedHash(ListPetsDocument)}`,
      );
      expect(await link?.json()).toMatchObject({ errors: [{ path: ['pets'] }] });
    },
  );

  browserTest('fits a window of 390 pixels', async () => {
    await using graphiql = await openGraphiql({}, 390);
    const { page, result } = graphiql;
    await openTab(page, 'Storefront');
    await writeVariables(page, '{ "limit": 1 }');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    const docs = page.locator('.graphiql-doc-explorer');
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    expect((await docs.boundingBox())?.width).toBeGreaterThan(330);
    await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
    await result.getByText('"Biscuit"').waitFor();
    expect((await result.boundingBox())?.width).toBeGreaterThan(330);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(800);
  });
});
