import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';
import { createGateway, type HostOptions, loadConfig } from '../../src/schema.ts';
import type { HostContext } from '../../src/yoga/host-context.ts';
import { owning } from '../support/dispose.ts';
import { openTelemetry } from '../support/log.ts';
import { startServer } from '../support/server.ts';

const storage = new AsyncLocalStorage<string>();
const query = '{ tenant ... @defer { later: tenant orders } }';
const body = JSON.stringify({ query });
async function* inChunks() {
  for (const character of body) yield Buffer.from(character);
}

/** Opens a server that calls the gateway in a context of each request. */
async function openHost(plugin: Plugin<HostContext>) {
  const { log } = openTelemetry();
  const extend: HostOptions['extend'] = (builder) =>
    builder.queryField('tenant', (t) =>
      t.string({ nullable: true, resolve: () => storage.getStore() }),
    );
  const config = loadConfig({ DATABASE_URL: ':memory:' });
  const gateway = await createGateway(config, { log, extend, plugins: [plugin] });
  let requests = 0;
  const server = await startServer(
    createServer((incoming, outgoing) =>
      storage.run(`tenant ${++requests}`, () => gateway.nodeListener(incoming, outgoing)),
    ),
  );
  return {
    ask(accept: string, { headers, ...init }: RequestInit = {}, search = '') {
      const given = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
      const all = { ...given, accept, ...headers };
      return fetch(`${server.url}/graphql${search}`, { ...init, headers: all });
    },
    ...owning(server, gateway),
  };
}

describe('the async context of a host', () => {
  it.each<[string, RequestInit & { readonly duplex?: 'half' }, string?]>([
    ['a GET', {}, `?query=${encodeURIComponent(query)}`],
    ['a POST', { method: 'POST', body }],
    ['a POST in chunks', { method: 'POST', body: inChunks() as never, duplex: 'half' }],
    [
      'a compressed POST',
      { method: 'POST', body: gzipSync(body), headers: { 'content-encoding': 'gzip' } },
    ],
  ])('is that of the request in hooks and resolvers of %s', async (_, init, search) => {
    const seen = new Set<unknown>();
    const see = () => void seen.add(storage.getStore());
    const hooks = { onParse: see, onValidate: see, onContextBuilding: see, onExecute: see };
    await using host = await openHost(hooks);
    const tenants = async (response: Response) =>
      (await response.text()).match(/(?<="(?:tenant|later)":)(?:null|"[^"]*")/g);
    const first = await host.ask('multipart/mixed', init, search);
    expect(await tenants(first)).toEqual(['"tenant 1"', '"tenant 1"']);
    const second = await host.ask('multipart/mixed', { method: 'POST', body });
    expect(await tenants(second)).toEqual(['"tenant 2"', '"tenant 2"']);
    expect(seen).toEqual(new Set(['tenant 1', 'tenant 2']));
  });

  it('is that of the request when its client leaves a sequence of results', async () => {
    const left = Promise.withResolvers<unknown>();
    let isFirst = true;
    const results: AsyncIterableIterator<object> = {
      async next() {
        if (!isFirst) await left.promise;
        isFirst = false;
        return { value: { data: {} }, done: false };
      },
      async return() {
        left.resolve(storage.getStore());
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]: () => results,
    };
    const plugin: Plugin<HostContext> = {
      onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution(results as never),
    };
    await using host = await openHost(plugin);
    const client = new AbortController();
    const init = { method: 'POST', body, signal: client.signal };
    const response = await host.ask('text/event-stream', init);
    await response.body?.getReader().read();
    client.abort();
    expect(await left.promise).toBe('tenant 1');
  });
});
