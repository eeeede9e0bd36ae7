import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser } from './browser.ts';
import { startGateway, type TestOptions } from './gateway.ts';

/**
 * Opens GraphiQL in a new browser, and records the requested URLs and the sent bodies. Disposing fails
 * if the page violated its Content-Security-Policy.
 */
export async function openGraphiql(options: TestOptions = {}) {
  const service = await startGateway({ graphiql: true, demoKey: 'demo-key', ...options });
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const requestedUrls: string[] = [];
  const sent: string[] = [];
  const violations: string[] = [];
  const workers: string[] = [];
  page.on('worker', (worker) => workers.push(new URL(worker.url()).protocol));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) violations.push(message.text());
  });
  page.on('request', (request) => {
    requestedUrls.push(request.url());
    if (request.method() === 'POST') sent.push(request.postData() ?? '');
  });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // Other pages of the browser share the clipboard.
  await page.addInitScript(() => {
    const { clipboard } = navigator;
    const write = clipboard.writeText.bind(clipboard);
    clipboard.writeText = (text) => write(text).then(() => void Object.assign(window, { text }));
  });
  await page.goto(`${service.url}/graphql`);
  return {
    ...service,
    page,
    requestedUrls,
    sent,
    /** The protocols of the URLs of its workers. */
    workers,
    result: page.locator('.result-window'),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await service[Symbol.asyncDispose]();
      expect(violations).toEqual([]);
    },
  };
}

/** Executes the operation of the active tab. */
export const execute = (page: Page) => page.getByRole('button', { name: 'Execute query' }).click();

/** Opens the tab of this name. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  // Until GraphiQL has parsed and stored the operation of the new tab, it executes the previous one.
  await page.waitForFunction((name) => localStorage['graphiql:query']?.includes(name), name);
}

/** Returns what the page has copied last. */
export const copiedText = (page: Page) => page.evaluate<string>('text');
