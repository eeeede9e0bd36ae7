import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { browserTest, openBrowser } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';

const root = fileURLToPath(new URL('../../examples/web', import.meta.url));

let outDir: string;
beforeAll(async () => {
  outDir = await mkdtemp(join(tmpdir(), 'pet-store-web-'));
  await build({ root, logLevel: 'error', build: { outDir, emptyOutDir: true } });
}, 60_000);
afterAll(() => rm(outDir, { recursive: true }));

/** The built page in a new browser, in front of a new gateway. */
async function openPage() {
  const service = await startGateway();
  const server = await preview({
    root,
    build: { outDir },
    logLevel: 'silent',
    preview: { host: '127.0.0.1', port: 0, proxy: { '/graphql': service.url } },
  });
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(server.resolvedUrls?.local[0] ?? '');
  return {
    service,
    page,
    rows: page.locator('#pets tr'),
    problem: page.getByRole('alert'),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await server.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

describe('examples/web in Chromium', { timeout: 60_000 }, () => {
  browserTest('lists animals, and those of one status', async () => {
    await using opened = await openPage();
    const { page, rows } = opened;
    await rows.nth(11).waitFor();
    expect(await rows.first().innerText()).toBe('1\tBiscuit\t1\tavailable');
    await page.locator('#filter').getByLabel('Status').selectOption('sold');
    await page.getByRole('button', { name: 'List' }).click();
    await rows.nth(2).waitFor({ state: 'detached' });
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(/\tsold$/),
      expect.stringMatching(/\tsold$/),
    ]);
  });

  browserTest('adds an animal and shows it, its int64 id digit by digit', async () => {
    await using opened = await openPage();
    const { page, rows } = opened;
    await page.getByLabel('Name').fill('<b>Rex</b>');
    await page.getByLabel('Category').fill('9223372036854775807');
    await page.getByRole('button', { name: 'Add' }).click();
    await rows.nth(12).waitFor();
    expect(await rows.last().innerText()).toBe('13\t<b>Rex</b>\t9223372036854775807\t');
  });

  browserTest('says what is wrong, and what to do', async () => {
    await using opened = await openPage();
    const { service, page, rows, problem } = opened;
    await rows.first().waitFor();
    await page.getByLabel('Name').fill('Rex');
    await page.getByLabel('Category').fill('dogs');
    await page.getByRole('button', { name: 'Add' }).click();
    await problem.getByText(/^categoryId: expected a whole number .*, received "dogs"/).waitFor();
    await page.getByLabel('API key').fill('wrong-key');
    await page.getByRole('button', { name: 'List' }).click();
    await problem.getByText('This API key is not accepted.').waitFor();
    await service.close(0);
    await page.getByRole('button', { name: 'List' }).click();
    await problem.getByText('The gateway can not be reached. Is it running?').waitFor();
  });
});
