import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { browserTest, openBrowser } from '../support/browser.ts';
import { packGateway } from '../support/consumer.ts';
import { keepForScan } from '../support/log.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 });

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
const example = join(repository, 'examples/next');
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NEXT_TELEMETRY_DISABLED: '1',
  NODE_ENV: undefined,
};

/** A copy of the example with its own packages. Undefined if they cannot be installed. */
const folder = await install();
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true });
});
const nextTest = it.skipIf(folder === undefined);

async function install(): Promise<string | undefined> {
  const copy = await mkdtemp(join(tmpdir(), 'pet-store-next-'));
  const isOurs = (path: string) => !/\/(?:node_modules|data|\.next)$/.test(path);
  await cp(example, copy, { recursive: true, filter: isOurs });
  await packGateway(copy);
  try {
    await run('npm', ['ci', '--prefer-offline'], { cwd: copy, env });
    return copy;
  } catch (error) {
    await rm(copy, { recursive: true });
    const { message } = error as Error;
    // The lock file is wrong.
    if (/EUSAGE|EINTEGRITY/.test(message)) throw error;
    const reason = message.split('\n').find((line) => line.startsWith('npm error')) ?? message;
    process.stderr.write(`Tests of Next are SKIPPED: ${reason}\n`);
    return undefined;
  }
}

/** The arguments for Node to run a `next` command. */
const next = (args: readonly string[]) =>
  [join(folder ?? '', 'node_modules/next/dist/bin/next'), ...args] as const;

/** Starts the example's server. Disposing of it also removes its database. */
async function serve(command: 'start' | 'dev', settings: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, next([command, '--port', '0', '--hostname', '127.0.0.1']), {
    cwd: folder,
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // `next dev` serves from a child process.
    detached: true,
  });
  const exited = once(child, 'close');
  let output = '';
  const url = await new Promise<string>((resolve) => {
    const read = (chunk: string) => {
      output += chunk;
      keepForScan(chunk);
      const [, address] = /Local: +(http:\S+)/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    exited.then(() => resolve(''));
  });
  if (url === '') throw new Error(`Expected next ${command} to serve, received: ${output}`);
  return {
    url,
    post: async (query: string) => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      return response.json();
    },
    async [Symbol.asyncDispose]() {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await exited;
      await rm(join(folder ?? '', 'data'), { recursive: true, force: true });
    },
  };
}

it('docs/next.md contains the files and the commands of the example', async () => {
  const page = await readFile(join(repository, 'docs/next.md'), 'utf8');
  const blocks = [...page.matchAll(/^`([^`\n]+)`:\n\n```\w+\n(.*?)```/gms)];
  expect(blocks.length).toBe(5);
  for (const [, path = '', block] of blocks) {
    expect(block, path).toBe(await readFile(join(example, path), 'utf8'));
  }
  expect(/```sh\n(.*?)```/s.exec(page)?.[1]?.trim().split('\n')).toEqual([
    'npm ci',
    'npm pack --pack-destination examples/next',
    'cd examples/next',
    'npm ci',
    'npm run build',
    'npm start',
  ]);
});

describe.each([
  ['Turbopack', 'build'],
  ['webpack', 'build:webpack'],
])('examples/next built with %s', (_, script) => {
  beforeAll(async () => {
    if (folder !== undefined) await run('npm', ['run', script], { cwd: folder, env });
  });

  nextTest('opens no database before the first request', async () => {
    const database = join(folder ?? '', 'data/pet-store.db');
    expect(existsSync(database)).toBe(false);
    await using server = await serve('start');
    expect(existsSync(database)).toBe(false);
    await server.post('{ __typename }');
    expect(existsSync(database)).toBe(true);
  });

  nextTest('renders data on the server, and serves GraphQL', async () => {
    await using server = await serve('start', { GRAPHIQL: 'on' });
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
    skip(folder === undefined, 'the packages of examples/next could not be installed');
    await using server = await serve('start');
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

nextTest('examples/next runs with next dev', async () => {
  await using server = await serve('dev');
  const page = await (await fetch(server.url)).text();
  expect(page.replaceAll('<!-- -->', '')).toContain('<p>Available: Biscuit, ');
  const { data } = await server.post('{ pets(limit: 1) { name } }');
  expect(data).toEqual({ pets: [{ name: 'Biscuit' }] });
});
