import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, vi } from 'vitest';
import { browserTest, openBrowser } from '../../support/browser.ts';
import { packGateway } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';
import { startNext } from '../../support/next.ts';
import { hasRegistry, installEnv, registryTest } from '../../support/registry.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 1_200_000 });

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../..', import.meta.url));
const example = join(repository, 'examples/next');

/** A copy of the example with its own packages. */
const folder = createFolder();
beforeAll(async () => {
  if (!hasRegistry) return;
  const isOurs = (path: string) => !/\/(?:node_modules|data|\.next)$/.test(path);
  await cp(example, folder, { recursive: true, filter: isOurs });
  await packGateway(folder);
  await run('npm', ['ci', '--prefer-offline'], { cwd: folder, env: installEnv });
});

describe.each([
  ['Turbopack', 'build'],
  ['webpack', 'build:webpack'],
])('examples/next built with %s', (_, script) => {
  beforeAll(async () => {
    if (hasRegistry) await run('npm', ['run', script], { cwd: folder, env: installEnv });
  });

  registryTest('opens no database before the first request', async () => {
    const database = join(folder, 'data/pet-store.db');
    expect(existsSync(database)).toBe(false);
    await using server = await startNext(folder, 'start');
    expect(existsSync(database)).toBe(false);
    await server.post('{ __typename }');
    expect(existsSync(database)).toBe(true);
  });

  registryTest('renders data on the server, and serves GraphQL', async () => {
    await using server = await startNext(folder, 'start', { GRAPHIQL: 'on' });
    const page = await (await fetch(server.url)).text();
    expect(page.replaceAll('<!-- -->', '')).toContain('<p>Available: Biscuit, ');
    const { data, errors } = await server.post('{ pets(limit: 1) { name } pet(id: "999") { id } }');
    expect(data).toEqual({ pets: [{ name: 'Biscuit' }], pet: null });
    expect(errors).toMatchObject([{ path: ['pet'], extensions: { code: 'NOT_FOUND' } }]);
    const headers = { accept: 'text/html' };
    const graphiql = await (await fetch(`${server.url}/graphql`, { headers })).text();
    expect(graphiql).toContain('query Storefront');
  });

  browserTest('reads and writes in the browser', async ({ skip }) => {
    skip(!hasRegistry, 'no npm registry');
    await using server = await startNext(folder, 'start');
    await using browser = await openBrowser();
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    await page.goto(server.url);
    const pets = page.getByRole('listitem');
    await pets.filter({ hasText: 'Marmalade' }).waitFor();
    const add = async (name: string, category: string) => {
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Category').fill(category);
      await page.getByRole('button', { name: 'Add' }).click();
    };
    await add('Rex', '9223372036854775807');
    await pets.filter({ hasText: 'Rex' }).waitFor();
    await add('Nemo', 'fish');
    await page.getByText('BAD_USER_INPUT').waitFor();
    expect(problems).toEqual([]);
  });
});

registryTest('examples/next runs with next dev', async () => {
  await using server = await startNext(folder, 'dev');
  const page = await (await fetch(server.url)).text();
  expect(page.replaceAll('<!-- -->', '')).toContain('<p>Available: Biscuit, ');
  const { data } = await server.post('{ pets(limit: 1) { name } }');
  expect(data).toEqual({ pets: [{ name: 'Biscuit' }] });
});
