import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, vi } from 'vitest';
import { browserTest, openBrowser } from '../../support/browser.ts';
import { packGateway } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';
import { startNext } from '../../support/next.ts';
import { pastePage } from '../../support/pasted-page.ts';
import { hasRegistry, registryTest } from '../../support/registry.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 1_200_000 });

describe('docs/next.md as pasted into a new application', () => {
  const parent = createFolder();
  let folder: string;
  beforeAll(async () => {
    if (!hasRegistry) return;
    await packGateway(parent);
    const copied: Record<string, string> = {};
    for (const path of ['app/page.tsx', 'app/pets.tsx', 'app/featured/page.tsx']) {
      const file = join(import.meta.dirname, '../../../examples/next', path);
      copied[path] = await readFile(file, 'utf8');
    }
    folder = (await pastePage('docs/next.md', parent, { copied })).folder;
  });

  registryTest('has the configuration of create-next-app, and opened no database', async () => {
    const config = await readFile(join(folder, 'next.config.ts'), 'utf8');
    expect(config).toContain('cacheComponents: true');
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  browserTest('reads and writes in the browser from the first request', async ({ skip }) => {
    skip(!hasRegistry, 'no npm registry');
    await using server = await startNext(folder, 'start');
    await using browser = await openBrowser();
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    await page.goto(server.url);
    await page.getByText('Available: Biscuit, ').waitFor();
    const pets = page.getByRole('listitem');
    await pets.filter({ hasText: 'Marmalade' }).waitFor();
    await page.getByLabel('Name').fill('Rex');
    await page.getByLabel('Category').fill('9223372036854775807');
    await page.getByRole('button', { name: 'Add' }).click();
    await pets.filter({ hasText: 'Rex' }).waitFor();
    await page.getByLabel('Name').fill('Nemo');
    await page.getByLabel('Category').fill('fish');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('BAD_USER_INPUT').waitFor();
    expect(problems).toEqual([]);
  });

  registryTest('responds to preflight requests from the configured origins', async () => {
    const origin = 'https://shop.example';
    await using server = await startNext(folder, 'start', { CORS_ORIGINS: origin });
    const headers = { origin, 'access-control-request-method': 'POST' };
    const response = await fetch(`${server.url}/graphql`, { method: 'OPTIONS', headers });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  });

  registryTest('reads what is cached for all visitors once', async () => {
    await using service = await startUpstream((_request, response) =>
      sendJson(response, 200, '[{"id":1,"name":"Rex","categoryId":1}]'),
    );
    const settings = { DEMO: '', DATABASE_URL: '', PETSTORE_BASE_URL: `${service.url}/v1` };
    await using server = await startNext(folder, 'start', settings);
    for (const _visit of [1, 2]) {
      const text = await (await fetch(`${server.url}/featured`)).text();
      expect(text.replaceAll('<!-- -->', '')).toContain('<p>Featured: Rex</p>');
    }
    expect(service.seen.map(({ url }) => url)).toEqual(['/v1/pets?limit=3&status=available']);
  });
});
