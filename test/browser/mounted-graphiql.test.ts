import { describe, expect } from 'vitest';
import { createGateway, loadConfig } from '../../src/index.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { mounts } from '../support/mounted.ts';

describe.each(mounts)('GraphiQL mounted at /api/graphql in %s', { timeout: 60_000 }, (_, mount) => {
  browserTest('runs operations, and requests nothing outside its path', async () => {
    await using gateway = await createGateway(
      loadConfig({ DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' }),
    );
    await using server = await mount(gateway);
    await using browser = await openBrowser();
    const page = await browser.newPage();
    const outside: string[] = [];
    const url = `${server.url}/api/graphql`;
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !/^(?:blob|data):/.test(request.url())) {
        outside.push(request.url());
      }
    });
    await page.goto(url);
    await page.getByRole('button', { name: 'Execute query' }).click();
    await page.locator('.result-window').getByText('"Biscuit"').waitFor();
    expect(outside).toEqual([]);
  });
});
