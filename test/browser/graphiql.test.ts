import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { browserTest, openBrowser } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';

/** GraphiQL of a new gateway in a new browser, and every address that the page asked for. */
async function openGraphiql() {
  const service = await startGateway({ graphiql: true, demoKey: 'demo-key' });
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${service.url}/graphql`);
  return {
    ...service,
    page,
    asked,
    result: page.locator('.result-window'),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

const execute = (page: Page) => page.getByRole('button', { name: 'Execute query' }).click();
async function openTab(page: Page, name: string): Promise<void> {
  // By key: the tabs can be dragged, and take a click as short as a robot's for the start of that.
  await page.getByRole('button', { name, exact: true }).press('Enter');
  // It runs the operation of the tab before until it has looked at the new one, and stored it.
  await page.waitForFunction((name) => localStorage['graphiql:query']?.includes(name), name);
}

/** Replaces the text of one of the panes below the query. */
async function write(page: Page, pane: 'Variables' | 'Headers', text: string): Promise<void> {
  await page.getByRole('button', { name: pane, exact: true }).click();
  await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
}

describe('GraphiQL in Chromium', { timeout: 60_000 }, () => {
  browserTest(
    'runs its first tab with the demo key, and loads nothing from elsewhere',
    async () => {
      await using graphiql = await openGraphiql();
      const { page, result, asked, url } = graphiql;
      await execute(page);
      await result.getByText('"Biscuit"').waitFor();
      const elsewhere = asked.filter((address) => new URL(address).origin !== url);
      expect(elsewhere).toEqual([]);
    },
  );

  browserTest('keeps the key out of every address, and out of the storage', async () => {
    await using graphiql = await openGraphiql();
    const { page, result, asked } = graphiql;
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    expect([...asked, page.url()].filter((address) => address.includes('demo-key'))).toEqual([]);
    const stored = () => page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })');
    await expect.poll(stored, { timeout: 10_000 }).toContain('ListPets');
    expect(await stored()).not.toContain('demo-key');
  });

  browserTest('comes back from a reload with the same tabs, and works', async () => {
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

  browserTest('adds an animal, its int64 id digit by digit, and lists it', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    await openTab(page, 'AddPet');
    await execute(page);
    await result.getByText('"9223372036854775807"').waitFor();
    await result.getByText('"13"').waitFor();
    await openTab(page, 'ListPets');
    await write(page, 'Variables', '{ "limit": 100 }');
    await execute(page);
    await result.getByText('"Biscuit"').waitFor();
    await result.click();
    await page.keyboard.press('ControlOrMeta+End');
    await result.getByText('"13"').waitFor();
    await result.getByText('"9223372036854775807"').waitFor();
  });

  browserTest('shows the descriptions, and what is deprecated and why', async () => {
    await using graphiql = await openGraphiql();
    const { page } = graphiql;
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const docs = page.locator('.graphiql-doc-explorer');
    await docs.getByRole('link', { name: 'Query', exact: true }).click();
    await docs.getByText('Animals of the store, ordered as the service orders them.').waitFor();
    await docs.getByRole('button', { name: 'Show Deprecated Fields' }).click();
    await docs.getByText(/removed on 2030-12-05; use pets\(status:\) instead/).waitFor();
  });

  browserTest('shows the typed error of a wrong key', async () => {
    await using graphiql = await openGraphiql();
    const { page, result } = graphiql;
    await write(page, 'Headers', '{ "Authorization": "Bearer wrong-key" }');
    await execute(page);
    await result.getByText('"UNAUTHENTICATED"').waitFor();
    await result.getByText('"requestId"').waitFor();
  });
});
