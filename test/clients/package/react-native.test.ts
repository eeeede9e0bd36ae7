import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { describe, expect, it, vi } from 'vitest';
import { openPersistedDocuments } from '../../../src/yoga/persisted-documents.ts';
import { createConsumer } from '../../support/consumer.ts';
import { startGateway } from '../../support/gateway.ts';
import { manifestFile } from '../../support/manifest.ts';
import { createHermesContext, fetchText, reactNativeGlobals } from './hermes.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const consumer = createConsumer();

/** Bundles `main.ts` with the packed client, for React Native's export conditions. @returns a script. */
async function bundle(files: Readonly<Record<string, string>>): Promise<string> {
  const ours = ['@apollo/client', 'graphql', 'rxjs', '@urql/core', 'wonka'];
  const { root } = await consumer.project({ ours, files });
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['react-native', 'import', 'module', 'default'] },
    build: { lib: { entry: join(root, 'main.ts'), formats: ['iife'], name: 'main' } },
  });
  const [name = ''] = await readdir(join(root, 'dist'));
  return readFile(join(root, 'dist', name), 'utf8');
}

describe('petstore-gateway-client in React Native', () => {
  it('uses no global when it is imported', async () => {
    const script = await bundle({
      'main.ts': `import * as client from 'petstore-gateway-client';
        Object.assign(globalThis, { client });`,
    });
    const hermes = createHermesContext();
    hermes.run(script);
    expect(hermes.run('client.persistedHash(client.ListPetsDocument)')).toMatch(/^sha256:/);
    expect(hermes.run('[typeof crypto, typeof URL, typeof fetch, typeof setTimeout].join()')).toBe(
      'undefined,undefined,undefined,undefined',
    );
  });

  it('reads, writes and retries with Apollo Client as documented, with hashes only', async () => {
    const page = await readFile(
      join(import.meta.dirname, '../../../docs/clients/others.md'),
      'utf8',
    );
    const [, client = ''] = /^`client\.ts`:\n\n```ts\n(.*?)```/ms.exec(page) ?? [];
    const persistedDocuments = await openPersistedDocuments({
      mode: 'only',
      files: [manifestFile],
    });
    await using service = await startGateway({ persistedDocuments });
    const script = await bundle({
      'client.ts': client.replace('http://127.0.0.1:4000', service.url),
      'main.ts': `import { AddPetDocument, StorefrontDocument } from 'petstore-gateway-client';
        import { client } from './client.ts';
        async function run() {
          const { data } = await client.query({ query: StorefrontDocument, variables: { limit: 1 } });
          const input = { name: 'Rex', categoryId: '9223372036854775807' };
          const added = await client.mutate({ mutation: AddPetDocument, variables: { input } });
          return [data.available[0].name, added.data.addPet.categoryId];
        }
        globalThis.running = run();`,
    });
    const requests: RequestInit[] = [];
    const hermes = createHermesContext({
      ...reactNativeGlobals,
      async fetch(url: string, init: RequestInit) {
        requests.push(init);
        // The first attempt does not reach the gateway.
        if (requests.length === 1) throw new TypeError('Network request failed');
        return fetchText(url, init);
      },
    });
    hermes.run(script);
    expect(await hermes.run('running')).toEqual(['Biscuit', '9223372036854775807']);
    expect(requests).toHaveLength(3);
    for (const { body, headers } of requests) {
      expect(JSON.parse(String(body))).not.toHaveProperty('query');
      expect(new Headers(headers).get('accept')).not.toContain('multipart');
    }
  });

  it('reads a document with @defer as a whole with urql and the documented header', async () => {
    const page = await readFile(
      join(import.meta.dirname, '../../../docs/clients/others.md'),
      'utf8',
    );
    const fetchOptions = /`fetchOptions: (\{.*?\} \})`/.exec(page)?.[1] ?? '';
    await using service = await startGateway();
    const script = await bundle({
      'main.ts': `import { Client, fetchExchange } from '@urql/core';
        import { createRetryFetch, DeferredStorefrontDocument } from 'petstore-gateway-client';
        const client = new Client({
          url: '${service.url}/graphql',
          fetchOptions: ${fetchOptions.replace('{ accept', "{ authorization: 'Bearer demo-key', accept")},
          fetch: createRetryFetch(),
          exchanges: [fetchExchange],
        });
        globalThis.running = client.query(DeferredStorefrontDocument, { limit: 1 }).toPromise();`,
    });
    const hermes = createHermesContext({
      ...reactNativeGlobals,
      URLSearchParams,
      fetch: fetchText,
    });
    hermes.run(script);
    const { data, error } = (await hermes.run('running')) as { data: object; error: unknown };
    expect(error).toBeUndefined();
    expect(data).toMatchObject({ pets: [{ name: 'Biscuit' }], orders: expect.anything() });
  });
});
