import { hash } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { useDisableIntrospection } from '@envelop/disable-introspection';
import { useOnResolve } from '@envelop/on-resolve';
import { useResponseCache } from '@envelop/response-cache';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { describe, expect, it } from 'vitest';

import { createGateway, type HostOptions, loadConfig } from '../../src/schema.ts';
import type { OperationPlugin } from '../../src/yoga/operation-context.ts';
import { openTelemetry } from '../support/log.ts';
import { startServer } from '../support/server.ts';

const env = { DATABASE_URL: ':memory:', PERSISTED_DOCUMENTS: 'allow', EXPLAIN: 'on' };
const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
const query = '{ pets(limit: 1) { id } }';
const deferred = '{ pets(limit: 1) { id } ... @defer { orders } }';

/** Opens a gateway in this process with a host's plugins and fields, behind a listener of Node. */
async function open(host: HostOptions, more: Readonly<Record<string, string>> = {}) {
  const { log, logged } = openTelemetry();
  const gateway = await createGateway(loadConfig({ ...env, ...more }), { log, ...host });
  const server = await startServer(createServer(gateway.nodeListener));
  const ask = async (init: object, search = '') => {
    const response = await fetch(`${server.url}/graphql${search}`, { headers, ...init });
    return { status: response.status, text: await response.text() };
  };
  return {
    gateway,
    logged,
    ask,
    post: async (body: object, accept = 'application/json') => {
      const init = { method: 'POST', body: JSON.stringify(body) };
      return ask({ ...init, headers: { ...headers, accept } });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/** A plugin that counts its hooks, and what it sees of contexts and results. */
function counting() {
  const seen: Record<string, number> = {};
  const results: ExecutionResult[] = [];
  const count = (name: string) => {
    seen[name] = (seen[name] ?? 0) + 1;
  };
  const plugin: OperationPlugin = {
    onParse: () => count('parse'),
    onValidate: () => count('validate'),
    onContextBuilding({ context, extendContext }) {
      count('context');
      expect(context.params.variables ?? {}).toEqual({});
      extendContext({ tenant: 'a' } as object);
    },
    onExecute({ args }) {
      count('execute');
      expect(args.contextValue).toMatchObject({ tenant: 'a', petStore: expect.anything() });
      return {
        onExecuteDone({ result }) {
          count('done');
          if (!isAsyncIterable(result)) results.push(result);
          else return { onNext: ({ result: part }) => void results.push(part) };
          return undefined;
        },
      };
    },
  };
  return { seen, results, plugin };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Each way in of an operation, and how many results or parts it has. */
const ways: readonly [name: string, send: (opened: Opened) => Promise<unknown>, parts?: number][] =
  [
    ['a POST', ({ post }) => post({ query })],
    ['a GET', ({ ask }) => ask({}, `?query=${encodeURIComponent(query)}`)],
    [
      'a hash',
      ({ post }) => {
        const sha256Hash = hash('sha256', query);
        return post({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } });
      },
    ],
    ['a deferred fragment', ({ post }) => post({ query: deferred }, 'multipart/mixed'), 2],
    ['an event stream', ({ post }) => post({ query: deferred }, 'text/event-stream'), 2],
    [
      'a fetch handler',
      async ({ gateway }) => {
        const init = { method: 'POST', headers, body: JSON.stringify({ query }) };
        return (await gateway(new Request('http://host/graphql', init))).text();
      },
    ],
    [
      'a caller in the process',
      ({ gateway }) => gateway.execute(query, {}, { authorization: headers.authorization }),
    ],
  ];

describe('a plugin of the host', () => {
  it.each(ways)('sees an operation once: %s', async (_, send, parts = 1) => {
    const { plugin, seen, results } = counting();
    await using opened = await open({ plugins: [plugin] });
    // The second and third are cached and compiled.
    for (const times of [1, 2, 3]) {
      await send(opened);
      const all = { parse: times, validate: times, context: times, execute: times, done: times };
      expect(seen).toEqual(all);
      expect(results).toHaveLength(times * parts);
      expect(results[0]).toMatchObject({ data: { pets: expect.anything() } });
    }
  });

  it.each([
    undefined,
    headers.authorization,
  ])('sees one document, which is parsed and validated once, with the key %s', async (authorization) => {
    const documents = new Set<unknown>();
    const plugin: OperationPlugin = {
      onParse: () => (parsed) => void documents.add(parsed.result),
    };
    await using opened = await open({ plugins: [plugin] });
    const body = JSON.stringify({ query: '{ __typename }' });
    const sent = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    for (let times = 1; times <= 3; times++) {
      const { text } = await opened.ask({ method: 'POST', body, headers: sent });
      expect(text).toBe('{"data":{"__typename":"Query"}}');
    }
    expect(documents.size).toBe(1);
  });

  it('sees errors before they are typed, and may end an operation itself', async () => {
    const causes: unknown[] = [];
    await using opened = await open({
      plugins: [
        {
          onExecute({ args, setResultAndStopExecution }) {
            if (args.operationName === 'Stop') {
              setResultAndStopExecution({ errors: [new GraphQLError('Stopped.')] });
            }
            return {
              onExecuteDone({ result }) {
                if (!isAsyncIterable(result)) {
                  causes.push(
                    ...(result.errors ?? []).map(({ originalError }) => originalError?.name),
                  );
                }
              },
            };
          },
        },
      ],
    });
    const missing = await opened.post({ query: '{ pet(id: 0) { id } }' });
    expect(causes).toEqual(['ErrorResponse']);
    expect(JSON.parse(missing.text).errors[0].extensions).toMatchObject({ code: 'NOT_FOUND' });
    const stopped = await opened.post({ query: `query Stop ${query}`, operationName: 'Stop' });
    expect(JSON.parse(stopped.text).errors).toMatchObject([
      { message: 'Stopped.', extensions: { requestId: expect.any(String) } },
    ]);
  });

  it('may refuse a context, and what it throws is masked', async () => {
    const thrown: Error[] = [
      new GraphQLError('No.', { extensions: { code: 'NO' } }),
      new Error('secret'),
    ];
    await using opened = await open({
      plugins: [
        {
          onContextBuilding() {
            throw thrown.shift() as Error;
          },
        },
      ],
    });
    const refused = JSON.parse((await opened.post({ query })).text);
    expect(refused.errors).toMatchObject([{ message: 'No.', extensions: { code: 'NO' } }]);
    const { status, text } = await opened.post({ query });
    expect([status, text.includes('secret')]).toEqual([500, false]);
  });

  it('may replace a result by parts, for clients that accept them', async () => {
    async function* parts() {
      yield { data: { pets: [] }, hasNext: true };
      yield { hasNext: false };
    }
    await using opened = await open({
      plugins: [{ onExecute: () => ({ onExecuteDone: ({ setResult }) => setResult(parts()) }) }],
    });
    const { text } = await opened.post({ query }, 'multipart/mixed');
    expect(text).toContain('{"data":{"pets":[]},"hasNext":true}');
    const refused = await opened.post({ query });
    expect([refused.status, refused.text]).toEqual([
      406,
      expect.stringContaining('expected a type'),
    ]);
  });

  it('warns of hooks of HTTP, which do not run', async () => {
    const plugin = { onRequest() {}, onResponse() {}, onExecute() {} };
    await using opened = await open({ plugins: [plugin] });
    expect(opened.logged).toEqual([expect.stringContaining('"hooks":["onRequest","onResponse"]')]);
  });
});

describe('plugins that others wrote', () => {
  it('@envelop/on-resolve wraps every resolver, also of an operation that is compiled elsewhere', async () => {
    const fields: string[] = [];
    const plugin = useOnResolve(
      ({ info }) => void fields.push(`${info.parentType}.${info.fieldName}`),
    );
    await using opened = await open({ plugins: [plugin] });
    for (let times = 1; times <= 3; times++) {
      await opened.post({ query });
      expect(fields.splice(0)).toEqual(['Query.pets', 'Pet.id']);
    }
  });

  it('@envelop/disable-introspection adds its rule to each validation', async () => {
    await using opened = await open({ plugins: [useDisableIntrospection()] });
    for (let times = 1; times <= 2; times++) {
      const { errors } = JSON.parse(
        (await opened.post({ query: '{ __schema { description } }' })).text,
      );
      expect(errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect((await opened.post({ query })).text).toContain('data');
    }
  });

  it('@envelop/response-cache responds without a call', async () => {
    const plugin = useResponseCache({ session: () => 'all', includeExtensionMetadata: true });
    await using opened = await open({ plugins: [plugin] });
    const texts = [await opened.post({ query }), await opened.post({ query })].map(
      ({ text }) => text,
    );
    expect(texts[0]).toContain('"hit":false');
    expect(texts[1]).toContain('"hit":true');
  });

  it('subscribers of graphql-js see compiled operations, too', async () => {
    const seen: unknown[] = [];
    const subscriber = (message: unknown) => void seen.push(message);
    await using opened = await open({});
    channel('tracing:graphql:execute:start').subscribe(subscriber);
    for (let times = 1; times <= 3; times++) await opened.post({ query: `query Traced ${query}` });
    channel('tracing:graphql:execute:start').unsubscribe(subscriber);
    const one = { operationName: 'Traced', operationType: 'query', rawVariableValues: {} };
    expect(seen).toMatchObject([one, one, one]);
  });
});

describe('fields of the host', () => {
  const extend: HostOptions['extend'] = (builder, { Pet }) => {
    builder.queryField('hello', (t) => t.string({ resolve: () => 'world' }));
    builder.objectField(Pet, 'shout', (t) =>
      t.string({ resolve: ({ name }) => name.toUpperCase() }),
    );
  };

  it('are served beside those of the contract, with the limits, calls and documents of the gateway', async () => {
    await using opened = await open({ extend }, { MAX_ROOT_FIELDS: '2' });
    const text = '{ hello pets(limit: 1) { name shout } }';
    for (let times = 1; times <= 3; times++) {
      const response = await opened.ask({
        method: 'POST',
        headers: { ...headers, 'x-petstore-explain': '1' },
        body: JSON.stringify({ query: text }),
      });
      expect(JSON.parse(response.text)).toMatchObject({
        data: { hello: 'world', pets: [{ name: 'Biscuit', shout: 'BISCUIT' }] },
        extensions: { calls: [{ path: ['pets'] }] },
      });
    }
    const { status, text: refused } = await opened.post({ query: '{ hello a: hello b: hello }' });
    expect([status, JSON.parse(refused).errors[0].extensions.code]).toEqual([
      400,
      'OPERATION_TOO_LARGE',
    ]);
  });
});
