import { hash } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { useMaskedErrors } from '@envelop/core';
import { useDisableIntrospection } from '@envelop/disable-introspection';
import { useResponseCache } from '@envelop/response-cache';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { describe, expect, it, vi } from 'vitest';

import { createGateway, type HostOptions, loadConfig } from '../../src/schema.ts';
import type { OperationContext, OperationPlugin } from '../../src/yoga/operation-context.ts';
import { owning } from '../support/dispose.ts';
import { openTelemetry } from '../support/log.ts';
import { startServer } from '../support/server.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

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
    ...owning(server, gateway),
  };
}

/** A plugin that counts its hooks, and what it sees of contexts and results. */
function counting() {
  const seen: Record<string, number> = {};
  const results: ExecutionResult[] = [];
  const methods = new Set<string>();
  const count = (name: string) => {
    seen[name] = (seen[name] ?? 0) + 1;
  };
  const plugin: OperationPlugin = {
    onParse: () => count('parse'),
    onValidate: () => count('validate'),
    onContextBuilding({ context, extendContext }) {
      count('context');
      expect(context.params.variables ?? {}).toEqual({});
      const { method, url, headers: given } = context.request as Request;
      expect([new URL(url).pathname, given.get('authorization')]).toEqual([
        '/graphql',
        headers.authorization,
      ]);
      methods.add(method);
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
  return { seen, results, methods, plugin };
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
  it.each(ways)('sees an operation once, with its request: %s', async (name, send, parts = 1) => {
    const { plugin, seen, results, methods } = counting();
    await using opened = await open({ plugins: [plugin] });
    // The second and third are cached and compiled.
    for (const times of [1, 2, 3]) {
      await send(opened);
      const all = { parse: times, validate: times, context: times, execute: times, done: times };
      expect(seen).toEqual(all);
      expect(results).toHaveLength(times * parts);
      expect(results[0]).toMatchObject({ data: { pets: expect.anything() } });
    }
    expect([...methods]).toEqual([name === 'a GET' ? 'GET' : 'POST']);
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

  it('sees typed errors, as the client receives them, and may end an operation itself', async () => {
    const codes: unknown[] = [];
    const plugin: OperationPlugin = {
      onExecute({ args, setResultAndStopExecution }) {
        if (args.operationName === 'Stop') {
          setResultAndStopExecution({ errors: [new GraphQLError('Stopped.')] });
        }
        return {
          onExecuteDone({ result }) {
            const { errors = [] } = result as ExecutionResult;
            codes.push(...errors.map(({ extensions }) => extensions['code']));
          },
        };
      },
    };
    await using opened = await open({ plugins: [plugin] });
    const missing = await opened.post({ query: '{ pet(id: 0) { id } }' });
    expect(codes).toEqual(['NOT_FOUND']);
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

  it.each([
    [
      'parts',
      'multipart/mixed',
      [{ data: { pets: [] }, hasNext: true }, { hasNext: false }],
      /\{"data":\{"pets":\[\]\},"hasNext":true\}.*-----/s,
    ],
    [
      'whole results, which are events',
      'text/event-stream',
      [{ data: { tick: 1 } }, { data: { tick: 2 } }],
      /^event: next\ndata: \{"data":\{"tick":1\}\}\n\nevent: next\ndata: \{"data":\{"tick":2\}\}\n\nevent: complete\ndata:\n\n$/,
    ],
  ])('may replace a result by %s, for clients that accept them', async (_, accept, all, expected) => {
    async function* results() {
      yield* all;
    }
    const onExecute: OperationPlugin['onExecute'] = () => ({
      onExecuteDone: ({ setResult }) => setResult(results()),
    });
    await using opened = await open({ plugins: [{ onExecute }] });
    expect((await opened.post({ query }, accept)).text).toMatch(expected);
    const refused = await opened.post({ query });
    expect([refused.status, refused.text]).toEqual([
      406,
      expect.stringContaining('expected a type'),
    ]);
  });

  it('warns of hooks of HTTP, also of plugins that are added, which do not run', async () => {
    const plugin = {
      onRequest() {},
      onExecute() {},
      onPluginInit: ({ addPlugin }: { addPlugin(plugin: object): void }) =>
        addPlugin({ onResponse() {} }),
    };
    await using opened = await open({ plugins: [plugin] });
    expect(opened.logged).toEqual([expect.stringContaining('"hooks":["onRequest","onResponse"]')]);
  });

  it('gets data, variables and parameters that JSON can write, with every digit', async () => {
    const id = '9007199254740993';
    await using service = await startUpstream((_request, response) =>
      sendJson(response, 200, `[{"id":${id},"tags":[1,1.5]}]`),
    );
    const texts: string[] = [];
    const plugin: OperationPlugin = {
      onExecute: ({ args }) => ({
        onExecuteDone: ({ result }) =>
          void texts.push(JSON.stringify([args.variableValues, args.contextValue.params, result])),
      }),
    };
    const more = { PETSTORE_BASE_URL: `${service.url}/v1` };
    await using opened = await open({ plugins: [plugin] }, more);
    const body = `{"query":"query ($id: ID!) { orders a: pet(id: $id) @skip(if: true) { id } }","variables":{"id":${id}}}`;
    for (let times = 1; times <= 3; times++) {
      const { text } = await opened.ask({ method: 'POST', body });
      expect(JSON.parse(text).data).toEqual({ orders: [{ id, tags: [1, 1.5] }] });
      const [variables, params, { data }] = JSON.parse(texts.pop() as string);
      expect([variables, params.variables, data.orders[0].id]).toEqual([{ id }, { id }, id]);
    }
  });

  it('leaves the documents of others as they are', async () => {
    const lengths: number[] = [];
    const addition = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } } as const;
    const addName = ({ selections, ...node }: SelectionSetNode) => ({
      ...node,
      selections: [...selections, addition],
    });
    const addNames: OperationPlugin = {
      onParse:
        () =>
        ({ result, replaceParseResult }) => {
          const added = visit(result as DocumentNode, { SelectionSet: { leave: addName } });
          lengths.push(print(added).length);
          replaceParseResult(added);
        },
    };
    await using opened = await open({ plugins: [addNames] });
    for (let times = 1; times <= 5; times++) await opened.post({ query });
    expect(new Set(lengths).size).toBe(1);
  });

  it('sets the status and headers with an error that ends the operation, and not with that of a field', async () => {
    const extensions = { code: 'PAY', http: { status: 402, headers: { 'X-Price': '3' } } };
    const error = () => new GraphQLError('Pay.', { extensions });
    const extend: HostOptions['extend'] = (builder) =>
      builder.queryField('paid', (t) =>
        t.string({ nullable: true, resolve: () => Promise.reject(error()) }),
      );
    const plugin: OperationPlugin = {
      onExecute({ args, setResultAndStopExecution }) {
        if (args.operationName === 'All') setResultAndStopExecution({ errors: [error()] });
      },
    };
    await using opened = await open({ plugins: [plugin], extend });
    const send = (body: object) =>
      opened.gateway(
        new Request('http://host/graphql', { method: 'POST', headers, body: JSON.stringify(body) }),
      );
    const all = await send({ query: 'query All { paid }', operationName: 'All' });
    expect([all.status, all.headers.get('x-price')]).toEqual([402, '3']);
    const field = await send({ query: 'query Field { paid __typename }' });
    expect([field.status, field.headers.get('x-price')]).toEqual([200, null]);
    for (const response of [all, field]) {
      const { errors } = (await response.json()) as { errors: unknown[] };
      expect(errors).toMatchObject([{ message: 'Pay.', extensions: { code: 'PAY' } }]);
      expect(errors).not.toMatchObject([{ extensions: { http: {} } }]);
    }
  });

  it('keeps no extensions of the gateway for others', async () => {
    const plugin = useResponseCache({ session: () => 'all' });
    await using opened = await open({ plugins: [plugin] });
    const body = JSON.stringify({ query: '{ pet(id: 1) { id } }' });
    const ask = async (more: object) =>
      JSON.parse(
        (await opened.ask({ method: 'POST', body, headers: { ...headers, ...more } })).text,
      ).extensions;
    const deprecations = [expect.anything()];
    expect(await ask({ 'x-petstore-explain': '1' })).toEqual({
      deprecations,
      calls: [expect.anything()],
    });
    expect(await ask({})).toEqual({ deprecations });
    expect(await ask({ 'x-petstore-explain': '1' })).toEqual({ deprecations, calls: [] });
  });

  it('keeps what became of a write if it masks errors', async () => {
    await using service = await startUpstream((_request, response) => response.destroy());
    const more = { PETSTORE_BASE_URL: `${service.url}/v1` };
    await using opened = await open({ plugins: [useMaskedErrors()] }, more);
    const { text } = await opened.post({
      query: 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }',
    });
    const extensions = { code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' };
    expect(JSON.parse(text).errors).toMatchObject([{ path: ['addPet'], extensions }]);
  });

  it.each([
    ['of a generator', query, false],
    ['of a generator, for a document with @defer', deferred, false],
    ['of an iterable', query, true],
  ])('may replace a result by a sequence that does not end, but with the client or the server: %s', async (_, document, isFresh) => {
    let ended = 0;
    async function* ticks() {
      try {
        for (;;) {
          yield { data: { tick: 1 } };
          await turn();
        }
      } finally {
        ended++;
      }
    }
    const onExecute: OperationPlugin['onExecute'] = () => ({
      onExecuteDone: ({ setResult }) =>
        setResult((isFresh ? { [Symbol.asyncIterator]: ticks } : ticks()) as ExecutionResult),
    });
    // Disposing waits this long for it.
    const opened = await open({ plugins: [{ onExecute }] }, { UPSTREAM_TIMEOUT_MS: '100' });
    const accept = 'text/event-stream';
    const init = {
      method: 'POST',
      headers: { ...headers, accept },
      body: JSON.stringify({ query: document }),
    };
    const fetched = await opened.gateway(new Request('http://host/graphql', init));
    const readOne = async (response: Response) => {
      const reader = response.body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('tick');
      return reader;
    };
    await (await readOne(fetched))?.cancel();
    await vi.waitFor(() => expect(ended).toBe(1));
    expect((await opened.post({ query })).status).toBe(406);
    await readOne(await opened.gateway(new Request('http://host/graphql', init)));
    await opened[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(ended).toBe(2));
  });

  it('may skip the validation, or pass no rules, and the document is that of Yoga', async () => {
    const skip: OperationPlugin = {
      onValidate({ context, setResult, validateFn, setValidationFn }) {
        if (context.params.operationName === 'Skip') setResult([]);
        setValidationFn((schema: GraphQLSchema, document: DocumentNode) =>
          validateFn(schema, document),
        );
      },
    };
    await using opened = await open({ plugins: [skip] });
    for (let times = 1; times <= 3; times++) {
      const skipped = await opened.post({ query: `query Skip ${query}`, operationName: 'Skip' });
      expect(skipped.text).toBe('{"data":{"pets":[{"id":"1"}]}}');
      const invalid = await opened.post({ query: '{ pets(limit: 1, nope: 2) { id zzz } }' });
      expect(JSON.parse(invalid.text).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
  });

  it('has the text of a document that is sent by its hash', async () => {
    const texts: unknown[] = [];
    const plugin: OperationPlugin = {
      onExecute: ({ args }) => void texts.push(args.contextValue.params.query),
    };
    await using opened = await open({ plugins: [plugin] });
    const persistedQuery = { version: 1, sha256Hash: hash('sha256', query) };
    await opened.post({ query, extensions: { persistedQuery } });
    await opened.post({ extensions: { persistedQuery } });
    expect(texts).toEqual([query, query]);
  });

  it("keeps a host's own extensions of errors", async () => {
    const issues = [{ reason: 'x' }];
    const extend: HostOptions['extend'] = (builder) => {
      const extensions = { code: 'BAD_USER_INPUT', issues };
      const resolve = () => Promise.reject(new GraphQLError('Own.', { extensions }));
      builder.mutationField('own', (t) => t.string({ nullable: true, resolve }));
    };
    await using opened = await open({ extend, plugins: [{ onExecute() {} }] });
    const { text } = await opened.post({ query: 'mutation { own }' });
    const extensions = { code: 'BAD_USER_INPUT', issues, outcome: 'UNKNOWN' };
    expect(JSON.parse(text).errors).toMatchObject([{ message: 'Own.', path: ['own'], extensions }]);
  });

  it('may give each context a schema, and add plugins', async () => {
    const other = buildSchema('type Query { pets: String, only: String }');
    const seen: string[] = [];
    const schemas: object[] = [];
    const added: OperationPlugin = {
      onSchemaChange: ({ schema }) => void schemas.push(schema),
      onExecute: ({ args }) => void seen.push(String(args.operationName)),
    };
    const plugin = {
      onPluginInit: ({ addPlugin }: { addPlugin(plugin: object): void }) => addPlugin(added),
      onEnveloped({
        context,
        setSchema,
      }: {
        context?: OperationContext;
        setSchema(one: object): void;
      }) {
        setSchema(context?.params.operationName === 'Other' ? other : (schemas[0] as object));
      },
    };
    await using opened = await open({ plugins: [plugin] });
    for (let times = 1; times <= 3; times++) {
      const body = { query: 'query Other { pets }', operationName: 'Other' };
      expect((await opened.post(body)).text).toBe('{"data":{"pets":null}}');
      expect(
        (await opened.post({ query: `query Own ${query}`, operationName: 'Own' })).text,
      ).toContain('"id"');
      const refused = await opened.post({ query: 'query Own { only }', operationName: 'Own' });
      expect(JSON.parse(refused.text).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
    expect(seen).toEqual(['Other', 'Own', 'Other', 'Own', 'Other', 'Own']);
  });
});

describe('plugins that others wrote', () => {
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

  it('get all that GraphQL gives to a resolver, also when a document is known', async () => {
    const extendWithOwn: HostOptions['extend'] = (builder) =>
      builder.queryField('own', (t) =>
        t.string({ resolve: (_root, _args, _context, { fieldName }) => fieldName }),
      );
    await using opened = await open({ extend: extendWithOwn });
    for (let times = 1; times <= 3; times++) {
      const { text } = await opened.post({ query: '{ own }' });
      expect(JSON.parse(text)).toEqual({ data: { own: 'own' } });
    }
  });

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
