import { hash } from 'node:crypto';
import { cp, mkdir, readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { createFolder } from '../support/folder.ts';
import { startGateway } from '../support/gateway.ts';
import { startIn } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Copies the sources to a folder, with links to their packages and a copy of GraphiQL. */
async function copySources() {
  const folder = createFolder();
  const graphiql = join('node_modules', '@graphql-yoga', 'render-graphiql');
  await mkdir(join(folder, graphiql), { recursive: true });
  for (const modules of ['node_modules', join(graphiql, '..')]) {
    for (const name of await readdir(join(root, modules))) {
      const target = join(folder, modules, name);
      if (!join(folder, graphiql, '/').startsWith(join(target, '/')))
        await symlink(join(root, modules, name), target);
    }
  }
  for (const path of ['src', 'schema', 'package.json', graphiql]) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  return { folder, graphiql: join(folder, graphiql) };
}

describe('GraphiQL', async () => {
  const service = disposeAfterAll(await startGateway({ graphiql: true, demoKey: 'demo-key' }));
  const asBrowser = { headers: { accept: 'text/html' } };

  it('is self-contained, with a tab per operation and the demo key', async () => {
    const response = await fetch(`${service.url}/graphql`, asBrowser);
    expect(response.headers.get('content-type')).toMatch('text/html');
    const page = await response.text();
    expect(page).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//);
    for (const name of ['ListPets', 'Storefront', 'DeferredStorefront', 'AddPet', 'SendMessage']) {
      expect(page).toMatch(new RegExp(`(?:query|mutation) ${name}\\b`));
    }
    expect(page).toContain('"apiKey":"demo-key"');
  });

  it.each(['demo-key', undefined])('offers demo keys only in a demo: %s', async (demoKey) => {
    await using service = await startGateway({ graphiql: true, demoKey });
    const page = await (await fetch(`${service.url}/graphql`, asBrowser)).text();
    // With the keys of a demo, the field shows its text.
    expect(page.includes('"demoKeys":{"demo-')).toBe(demoKey !== undefined);
  });

  it('may run only its own scripts, and not be framed, sniffed or named in a Referer', async () => {
    for (const coding of ['identity', 'br']) {
      const headers = { accept: 'text/html', 'accept-encoding': coding };
      const response = await fetch(`${service.url}/graphql`, { headers });
      const page = await response.text();
      const policy = response.headers.get('content-security-policy') ?? '';
      const scripts = [...page.matchAll(/<script>(.*?)<\/script>/gs)].map(
        ([, script = '']) => script,
      );
      expect(scripts).toHaveLength(7);
      const hashes = scripts.map((script) => `'sha256-${hash('sha256', script, 'base64')}'`);
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          `script-src ${hashes.join(' ')}`,
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  it('is replaced by a page with the same restrictions', async () => {
    const persistedDocuments = { mode: 'only', manifest: new Map() } as const;
    await using service = await startGateway({ graphiql: true, persistedDocuments });
    const { status, headers } = await fetch(`${service.url}/graphql`, asBrowser);
    expect(status).toBe(404);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none';.+frame-ancestors 'none'$/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('is smaller than 2.5 MB, and gets 304 when the browser has it', async () => {
    const send = (method: string, coding: string, headers = {}) =>
      fetch(`${service.url}/graphql`, {
        method,
        headers: { accept: 'text/html', 'accept-encoding': coding, ...headers },
      });
    for (const coding of ['br', 'gzip']) {
      const head = await send('HEAD', coding);
      expect([head.status, head.headers.get('content-encoding')]).toEqual([200, coding]);
      expect(Number(head.headers.get('content-length'))).toBeLessThan(2_500_000);
      expect(head.headers.get('cache-control')).toBe('private, no-cache');
      expect(head.headers.get('vary')).toBe('Accept, Accept-Encoding');
      const known = await send('GET', coding, { 'if-none-match': head.headers.get('etag') });
      expect([known.status, await known.text()]).toEqual([304, '']);
    }
  });

  it('is served after npm has installed its package, even if it was opened before', async () => {
    const { folder, graphiql } = await copySources();
    await using gateway = await startIn(folder, ['src/main.ts'], { DATABASE_URL: ':memory:' });
    const open = async () => (await fetch(`${gateway.url}/graphql`, asBrowser)).status;
    const move = async (from: string, to: string) => {
      for (const name of ['esm', 'package.json']) await rename(join(from, name), join(to, name));
    };
    const later = createFolder();
    await move(graphiql, later);
    expect(await open()).toBe(500);
    await move(later, graphiql);
    expect(await open()).toBe(200);
  });

  it('is not served when it is turned off', async () => {
    await using service = await startGateway({ graphiql: false });
    const response = await fetch(`${service.url}/graphql`, asBrowser);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('GraphiQL is off');
    const program = await fetch(`${service.url}/graphql`);
    expect(program.headers.get('content-type')).toMatch('application/json');
  });
});
