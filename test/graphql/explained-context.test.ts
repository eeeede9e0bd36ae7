import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createGateway, type Gateway, loadConfig } from '../../src/index.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { petsFirst, readParts } from '../support/parts.ts';
import { openMountable } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

const pet = '{"id":1,"name":"a","categoryId":1}';
const key = 'secret-key';

/** A call that succeeded at once. Its times are checked apart. */
function call(path: string, operation: string, rest: object = {}) {
  const [method, pathTemplate, target] = lines[operation] ?? [];
  const made = { status: 200, retries: 0, bytes: 2, shared: false };
  const times = { startMs: expect.any(Number), durationMs: expect.any(Number) };
  return { path: [path], operation, method, pathTemplate, target, ...times, ...made, ...rest };
}

const lines: Readonly<Record<string, readonly string[]>> = {
  listPets: ['GET', '/pets', '/v1/pets'],
  createPet: ['POST', '/pets', '/v1/pets'],
  getPet: ['GET', '/pets/{petId}', '/v1/pets/7'],
  listOrders: ['GET', '/store/orders', '/v1/store/orders'],
  sendMessage: ['POST', '/messages', '/messages'],
};

const headers = { authorization: `Bearer ${key}` };
const explain = { ...headers, 'x-petstore-explain': '1' };

interface Asked {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends an operation that asks for its calls, unless other headers are given. */
async function ask(gateway: Gateway, query: string, { headers = explain, signal }: Asked = {}) {
  const response = await gateway(graphqlRequest('http://gateway.test', { query }, headers, signal));
  const text = await response.text();
  return { response, text, ...JSON.parse(text) };
}

/** Opens a gateway in front of a REST service, which responds with `[]` by default. */
async function openExplained(...options: Parameters<typeof openMountable>) {
  const opened = await openMountable(...options);
  return { ...opened, ask: (query: string, asked?: Asked) => ask(opened.gateway, query, asked) };
}

describe('extensions.calls', () => {
  it('lists the call of each field in their order, whether the operation is compiled or not', async () => {
    await using explained = await openExplained(({ url }, response) =>
      sendJson(response, 200, url.endsWith('/7') ? pet : '[]'),
    );
    const query = '{ pets { id } one: pet(id: 7) { id } orders __typename }';
    for (const _ of ['graphql-js', 'compiled', 'compiled again']) {
      const { text, extensions } = await explained.ask(query);
      expect(extensions.calls).toEqual([
        call('pets', 'listPets'),
        call('one', 'getPet', { bytes: pet.length }),
        call('orders', 'listOrders'),
      ]);
      for (const { startMs, durationMs } of extensions.calls) {
        expect(startMs).toBeGreaterThanOrEqual(0);
        expect(durationMs).toBeGreaterThan(0);
      }
      expect(text).not.toContain(key);
      expect(text).not.toContain(new URL(explained.upstream.url).host);
    }
    expect(explained.upstream.seen).toHaveLength(9);
  });

  it('marks the fields that join a call of the same request', async () => {
    await using explained = await openExplained();
    const { extensions } = await explained.ask(
      '{ a: pets { id } b: pets(limit: 20) { name } c: pets(limit: 1) { id } d: pets { id } }',
    );
    expect(extensions.calls).toEqual([
      call('a', 'listPets'),
      call('b', 'listPets', { shared: true }),
      call('c', 'listPets', { target: '/v1/pets?limit=1' }),
      call('d', 'listPets', { shared: true }),
    ]);
    expect(explained.upstream.seen).toHaveLength(2);
  });

  it.each([
    ['that was sent again', [503, 200], '[ ]', { retries: 1, bytes: 3 }],
    ['with an error status', [404], '{}', { status: 404, bytes: 2 }],
    ['whose body breaks the contract', [200], '{"x":1}', { status: 200, bytes: 7 }],
  ])('has the status and size of a call %s', async (_, statuses, body, expected) => {
    await using explained = await openExplained((_request, response) =>
      sendJson(response, statuses.shift() ?? 0, body),
    );
    const { extensions } = await explained.ask('{ pets { id } }');
    expect(extensions.calls).toEqual([call('pets', 'listPets', expected)]);
  });

  it('has no status for a call without a response, refused ones included', async () => {
    await using explained = await openExplained();
    await explained.upstream[Symbol.asyncDispose]();
    const none = { status: null, bytes: 0 };
    const messages: string[] = [];
    // The circuit opens after ten failures; each read is tried twice.
    for (let count = 0; count < 11; count++) {
      const { errors, extensions } = await explained.ask('{ pets { id } }');
      messages.push(errors[0].message);
      expect(extensions.calls).toEqual([call('pets', 'listPets', none)]);
    }
    expect(messages[0]).toBe('The pet store could not be reached.');
    expect(messages.at(-1)).toContain('Calls are paused');
  });

  it('lists the call of a write with an Idempotency-Key, and none for its repetition', async () => {
    await using explained = await openExplained((_, response) => sendJson(response, 201, pet));
    const query = 'mutation { addPet(input: { name: "a", categoryId: 1 }) { id } }';
    const keyed = { headers: { ...explain, 'idempotency-key': 'k' } };
    const first = await explained.ask(query, keyed);
    const made = { status: 201, bytes: pet.length };
    expect(first.extensions.calls).toEqual([call('addPet', 'createPet', made)]);
    const again = await explained.ask(query, keyed);
    expect([again.data, again.extensions.calls]).toEqual([first.data, []]);
  });

  it('has no entry for a call that is not configured', async () => {
    await using explained = await openExplained();
    const { extensions } = await explained.ask('mutation { sendMessage(message: "a") { id } }');
    expect(extensions.calls).toEqual([]);
  });

  it('lists a call that the caller cancels', async () => {
    const caller = new AbortController();
    await using explained = await openExplained(() => caller.abort());
    const { signal } = caller;
    const { errors, extensions } = await explained.ask('{ orders }', { signal });
    expect(errors[0].extensions.code).toBe('CANCELLED');
    expect(extensions.calls).toEqual([call('orders', 'listOrders', { status: null, bytes: 0 })]);
  });

  it('has no entry for a field that needs no call', async () => {
    await using explained = await openExplained();
    const { extensions } = await explained.ask('{ pets(limit: 500) { id } __typename }');
    expect(extensions).toEqual({ calls: [] });
    const { authorization: _, ...withoutKey } = explain;
    const refused = await explained.ask('{ pets { id } }', { headers: withoutKey });
    expect(refused.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(refused.extensions).toEqual({ calls: [] });
    const invalid = await explained.ask('{ unknown }');
    expect(invalid.extensions).toBe(undefined);
  });

  it.each([
    ['without the header', headers, {}],
    ['with another value of the header', { ...headers, 'x-petstore-explain': 'true' }, {}],
    ['when EXPLAIN is off', explain, { EXPLAIN: 'off' }],
  ])('is absent %s', async (_, sent, env: Record<string, string>) => {
    await using explained = await openExplained(undefined, env);
    const { text } = await explained.ask('{ pets { id } }', { headers: sent });
    expect(text).toBe('{"data":{"pets":[]}}');
  });

  it('has the calls that have ended in each part of a deferred result', async () => {
    const orders = Promise.withResolvers<ServerResponse>();
    await using explained = await openExplained(({ url }, response) =>
      url.includes('orders') ? orders.resolve(response) : sendJson(response, 200, '[]'),
    );
    const accept = { ...explain, accept: 'multipart/mixed' };
    const request = graphqlRequest('http://gateway.test', { query: petsFirst }, accept);
    const parts = readParts(await explained.gateway(request));
    const list = call('pets', 'listPets', { target: '/v1/pets?limit=1' });
    expect((await parts.next()).value).toMatchObject({ extensions: { calls: [list] } });
    sendJson(await orders.promise, 200, '[]');
    expect((await parts.next()).value).toMatchObject({
      extensions: { calls: [list, call('orders', 'listOrders')] },
      hasNext: false,
    });
  });

  it('is not stored by caches', async () => {
    await using explained = await openExplained();
    const url = 'http://gateway.test/graphql?query={pets{id}}';
    const response = await explained.gateway(new Request(url, { headers: explain }));
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

describe('extensions.calls of the built-in backend', () => {
  it('lists what a REST service would receive', async () => {
    await using gateway = await createGateway(loadConfig({ DATABASE_URL: ':memory:' }));
    const demo = { headers: { ...explain, authorization: 'Bearer demo-key' } };
    const served = { builtin: true, bytes: undefined };
    const query = `{ a: pets(limit: 3, status: sold) { id } b: pet(id: "404") { id } orders
      c: pets(limit: 3, status: sold) { name } d: pets(limit: 101) { id } }`;
    const { extensions } = await ask(gateway, query, demo);
    const target = '/v1/pets?limit=3&status=sold';
    expect(extensions.calls).toEqual([
      call('a', 'listPets', { ...served, target }),
      call('b', 'getPet', { ...served, target: '/v1/pets/404', status: 404 }),
      call('orders', 'listOrders', served),
      call('c', 'listPets', { ...served, target, shared: true }),
    ]);
    const writes = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const added = await ask(gateway, writes, demo);
    expect(added.extensions.calls).toEqual([
      call('addPet', 'createPet', { ...served, status: 201 }),
    ]);
    const refused = await ask(gateway, '{ pets { id } }');
    expect(refused.extensions.calls).toEqual([
      call('pets', 'listPets', { ...served, status: 401 }),
    ]);
  });
});

describe('a read that joins the call of another request', () => {
  it('has the status and size of that call', async () => {
    const held = Promise.withResolvers<ServerResponse>();
    await using explained = await openExplained((_request, response) => held.resolve(response));
    const first = explained.ask('{ pets { id } }', { headers });
    const second = explained.ask('{ pets { name } }');
    sendJson(await held.promise, 200, '[ ]');
    expect((await first).text).toBe('{"data":{"pets":[]}}');
    const { extensions } = await second;
    expect(extensions.calls).toEqual([call('pets', 'listPets', { shared: true, bytes: 3 })]);
    expect(explained.upstream.seen).toHaveLength(1);
    const logged = explained.requests().map(({ calls }) => calls.length);
    expect(logged.toSorted()).toEqual([0, 1]);
  });
});
