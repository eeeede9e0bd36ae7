import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { blocksOf } from '../support/blocks.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { shellStart } from '../support/process.ts';

vi.setConfig({ testTimeout: 300_000 });

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** Creates a copy of the checkout after `npm ci`, for commands that write files. */
async function openCheckout() {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-docs-'));
  for (const name of ['package.json', 'src', 'schema', 'packages', 'node_modules']) {
    await symlink(join(root, name), join(folder, name));
  }
  await mkdir(join(folder, 'data'));
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], LOG_LEVEL: 'warn' };
  return {
    folder,
    /** Runs a block that starts a gateway, on a free port. */
    start: (block: string) =>
      shellStart(folder, block.replace('npm ci && ', '').replace(/^PORT=\d+ \\$/m, '\\'), {}),
    /** Runs a block until it exits. @returns its output. */
    async paste(block: string, more: Record<string, string> = {}) {
      const options = { cwd: folder, env: { ...env, ...more } };
      const { stdout } = await run('bash', ['-ec', block], options);
      return stdout;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

const documented = 'http://127.0.0.1:4000';

/** The gateway that several pages start. */
const checkout = disposeAfterAll(await openCheckout());
const gateway = disposeAfterAll(await checkout.start('npm start'));

describe('the commands of README.md', () => {
  it('start the gateway and print the documented output', async () => {
    const blocks = await blocksOf('README.md', 'Start');
    const [start, tests, banner, request, response, page] = blocks.map(({ block }) => block);
    expect([start, tests]).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
    expect(gateway.output.stdout.trim()).toContain(
      (banner ?? 'missing').trim().replaceAll(documented, gateway.url),
    );
    const output = await checkout.paste((request ?? '').replaceAll(documented, gateway.url));
    expect(output).toBe((response ?? '').trim());
    const code = (page ?? '').replaceAll(documented, gateway.url);
    await writeFile(join(checkout.folder, 'pets.mjs'), code);
    const names = /^\[ \{ id: '1', name: 'Biscuit' \}, .* \] undefined\n$/s;
    expect(await checkout.paste('node pets.mjs')).toMatch(names);
  });
});

describe('the commands of docs/built-in-backend.md', () => {
  it('create an account and a key that the gateway accepts', async () => {
    const [{ block = '' } = {}] = await blocksOf(
      'docs/built-in-backend.md',
      'Accounts and API keys',
    );
    await using checkout = await openCheckout();
    await using gateway = await checkout.start(block);
    const key = /pet_[\w-]+/.exec(gateway.output.stdout)?.[0];
    const list = async (authorization: string) => {
      const options = { headers: { authorization } };
      return (await fetch(`${gateway.url}/v1/pets`, options)).status;
    };
    expect([await list(`Bearer ${key}`), await list('Bearer demo-key')]).toEqual([200, 401]);
  });

  it('import and export a pet with every digit', async () => {
    const [{ block = '' } = {}] = await blocksOf('docs/built-in-backend.md', 'Import and export');
    await using checkout = await openCheckout();
    await checkout.paste(block);
    const exported = await readFile(join(checkout.folder, 'pets.jsonl'), 'utf8');
    expect(exported).toMatch(/^\{"id":\d+,"name":"Rex","categoryId":9223372036854775807\}\n$/);
  });

  it('back up, compare in a drill and restore', async () => {
    const [backup, restore, drill] = await blocksOf(
      'docs/built-in-backend.md',
      'Back up and restore',
    );
    await using checkout = await openCheckout();
    const add = async (url: string, name: string) => {
      const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
      const body = JSON.stringify({ name, categoryId: 1 });
      const response = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
    };
    {
      await using gateway = await checkout.start('npm start');
      await add(gateway.url, 'before');
      const compared = await checkout.paste(drill?.block ?? '');
      expect(compared).toMatch(
        /Backed up the database to drill\.db \([\d,]+ kB\)\.\n +13 before\.jsonl\n +13 restored\.jsonl\n/,
      );
      await checkout.paste(backup?.block ?? '');
      await add(gateway.url, 'after');
    }
    await using restored = await checkout.start(restore?.block ?? '');
    const response = await fetch(`${restored.url}/v1/pets`, {
      headers: { authorization: 'Bearer demo-key' },
    });
    const names = ((await response.json()) as { name: string }[]).map(({ name }) => name);
    expect(names.length).toBe(13);
    expect(names).toContain('before');
  });
});

describe('the commands of docs/clients/README.md', () => {
  it('print a response in parts', async () => {
    const [, request, response] = await blocksOf('docs/clients/README.md', 'Incremental delivery');
    const pasted = (request?.block ?? '').replaceAll(documented, gateway.url);
    const output = await checkout.paste(pasted);
    const lines = output.replaceAll('\r', '').replace(/("orders":\[).+?(\]\})/, '$1…$2');
    expect(lines).toBe(response?.block);
  });
});

describe('the commands of docs/bff.md', () => {
  it('print the REST calls of an operation', async () => {
    const blocks = await blocksOf('docs/bff.md', 'The REST calls of an operation');
    const [service, gateway, request, , extensions] = blocks.map(({ block }) => block);
    await using checkout = await openCheckout();
    await using first = await checkout.start(service ?? '');
    await using second = await checkout.start((gateway ?? '').replaceAll(documented, first.url));
    const pasted = (request ?? '').replaceAll('http://127.0.0.1:4001', second.url);
    const withoutTimes = (text = '') =>
      JSON.parse(text.replaceAll(/("(?:startMs|durationMs)": ?)[\d.]+/g, '$10'));
    expect(withoutTimes(await checkout.paste(pasted)).extensions).toEqual(withoutTimes(extensions));
  });
});

describe('the commands of docs/persisted-documents.md', () => {
  it('start a gateway that accepts only hashes', async () => {
    const [start, request] = await blocksOf('docs/persisted-documents.md', 'Persisted documents');
    await using checkout = await openCheckout();
    await using gateway = await checkout.start(start?.block ?? '');
    const pasted = (request?.block ?? '').replaceAll(documented, gateway.url);
    expect(JSON.parse(await checkout.paste(pasted)).data.available.length).toBe(2);
    const other = await fetch(`${gateway.url}/graphql?query={__typename}`);
    expect(await other.text()).toContain('PERSISTED_DOCUMENT_REQUIRED');
  });
});

describe('the commands of docs/conformance.md', () => {
  it('check a service, and start a gateway in front of it', async () => {
    const blocks = await blocksOf('docs/conformance.md', 'Check a service');
    const [check, report, chain] = blocks.map(({ block }) => block);
    const output = await checkout.paste((check ?? '').replaceAll(documented, gateway.url));
    for (const line of (report ?? 'missing').split('\n')) {
      if (line !== '…') expect(output).toContain(line);
    }
    await using front = await checkout.start((chain ?? '').replaceAll(documented, gateway.url));
    const query = 'mutation { sendMessage(message: "hi") { message } }';
    const response = await fetch(graphqlRequest(front.url, { query }));
    expect(await response.json()).toEqual({ data: { sendMessage: { message: 'hi' } } });
  });
});
