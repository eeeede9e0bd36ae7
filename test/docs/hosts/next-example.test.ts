import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, vi } from 'vitest';
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

  registryTest('opens a database at the first request, and serves pages and GraphQL', async () => {
    const database = join(folder, 'data/pet-store.db');
    expect(existsSync(database)).toBe(false);
    await using server = await startNext(folder, 'start', { GRAPHIQL: 'on' });
    expect(existsSync(database)).toBe(false);
    const { data, errors } = await server.post('{ pets(limit: 1) { name } pet(id: "999") { id } }');
    expect(existsSync(database)).toBe(true);
    expect(data).toEqual({ pets: [{ name: 'Biscuit' }], pet: null });
    expect(errors).toMatchObject([{ path: ['pet'], extensions: { code: 'NOT_FOUND' } }]);
    const page = await (await fetch(server.url)).text();
    expect(page.replaceAll('<!-- -->', '')).toContain('<p>Available: Biscuit, ');
    const headers = { accept: 'text/html' };
    const graphiql = await (await fetch(`${server.url}/graphql`, { headers })).text();
    expect(graphiql).toContain('query Storefront');
  });
});

registryTest('examples/next runs with next dev', async () => {
  await using server = await startNext(folder, 'dev');
  const page = await (await fetch(server.url)).text();
  expect(page.replaceAll('<!-- -->', '')).toContain('<p>Available: Biscuit, ');
  const { data } = await server.post('{ pets(limit: 1) { name } }');
  expect(data).toEqual({ pets: [{ name: 'Biscuit' }] });
});
