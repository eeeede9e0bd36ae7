import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { createRefuse } from '../../../src/http/refuse.ts';
import { createEngine } from '../../../src/server/graphql/engine.ts';
import { createGraphqlHandler } from '../../../src/server/graphql/handler.ts';
import { RequestRecord } from '../../../src/telemetry/request-record.ts';
import { openBuiltin, openGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { openTelemetry } from '../../support/log.ts';

/** Returns the bytes in use on the heap after garbage collection. */
function heapUsed(): number {
  if (globalThis.gc === undefined) throw new Error('Expected --expose-gc.');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** Opens a handler that counts how often it prepares a document. */
async function openHandler() {
  const petStore = await openBuiltin();
  const { operationLimits } = loadConfig({});
  const prepare = createEngine({ introspection: true, operationLimits });
  const telemetry = openTelemetry();
  let prepared = 0;
  const handler = createGraphqlHandler({
    prepare(text) {
      prepared++;
      return prepare(text);
    },
    petStore,
    persistedDocuments: { mode: 'off', manifest: new Map() },
    explain: false,
    forwardHeaders: undefined,
    graphiql: undefined,
    refuse: createRefuse(telemetry),
  });
  const head = { method: 'POST', path: '/graphql', headers: {} };
  return {
    /** Executes a document. Returns whether it had to be prepared. */
    async execute(text: string, authorization?: string): Promise<boolean> {
      using scope = new DisposableStack();
      const record = scope.use(new RequestRecord(telemetry, head));
      const { signal } = new AbortController();
      const rest = { isReadOnly: false, explain: false, record, scope, delivery: () => undefined };
      const caller = { authorization, headers: {}, key: 1, signal, ...rest };
      const before = prepared;
      await handler.execute({ text }, caller);
      return prepared > before;
    },
    [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose](),
  };
}

describe('the cache of documents', () => {
  it.each([
    ['without a key', undefined, '{ __typename }'],
    ['whose key is not accepted', 'Bearer made-up', '{ pets { id } }'],
    ['with an accepted key', 'Bearer demo-key', '{ pets { id } }'],
  ])('prepares a document of callers %s once', async (_, authorization, text) => {
    await using handler = await openHandler();
    const prepared = [];
    for (let times = 0; times < 3; times++)
      prepared.push(await handler.execute(text, authorization));
    expect(prepared).toEqual([true, false, false]);
  });

  it('keeps 512 KiB of callers without an accepted key, and no document of more than a quarter', async () => {
    await using handler = await openHandler();
    const small = (index: number) => `{ a${index}: __typename }`;
    const large = `{ pets { ${'id '.repeat(200)} } }`;
    await handler.execute(small(0));
    expect([await handler.execute(large), await handler.execute(large)]).toEqual([true, true]);
    expect(await handler.execute(small(0))).toBe(false);
    // Each is counted with some 8 KiB.
    for (let index = 1; index < 100; index++) await handler.execute(small(index));
    expect([await handler.execute(small(0)), await handler.execute(small(99))]).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    ['invalid documents', (index: number) => `{ nope${index} }`, undefined],
    ['valid documents without a key', (index: number) => `{ a${index}: __typename }`, {}],
    [
      'documents with a key that is not accepted',
      (index: number) => `query Q${index} { pets { id name } }`,
      { authorization: 'Bearer made-up' },
    ],
    [
      'documents with syntax errors',
      (index: number) => `{ pets( ${'['.repeat(50)} ${index}`,
      { authorization: 'Bearer demo-key' },
    ],
  ])(
    'keeps little of %s',
    async (_, documentOf, headers) => {
      await using opened = await openGateway();
      const send = async (from: number, to: number) => {
        for (let index = from; index < to; index++) {
          await postGraphQL(opened.gateway, documentOf(index), undefined, headers ?? {});
          // The test itself keeps the log lines.
          opened.lines.length = 0;
        }
      };
      await send(0, 300);
      const before = heapUsed();
      await send(300, 1300);
      expect((heapUsed() - before) / 1000).toBeLessThan(1500);
    },
    60_000,
  );

  it('is bounded for callers with an accepted key', async () => {
    await using opened = await openGateway();
    const document = (index: number) =>
      `query Q${index} { ${Array.from({ length: 8 }, (_, field) => `f${field}: pets(limit: 1) { id name status categoryId }`).join(' ')} }`;
    const send = async (index: number) => {
      for (let time = 0; time < 2; time++) await postGraphQL(opened.gateway, document(index));
      opened.lines.length = 0;
    };
    for (let index = 0; index < 50; index++) await send(index);
    const before = heapUsed();
    for (let index = 50; index < 1050; index++) await send(index);
    const megabytes = (heapUsed() - before) / 1024 / 1024;
    expect(megabytes).toBeLessThan(32);
    expect(megabytes).toBeGreaterThan(4);
  }, 60_000);
});
