import type { ServerResponse } from 'node:http';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { Client, fetchExchange } from '@urql/core';
import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  AddPetDocument,
  createRetryFetch,
  DeferredStorefrontDocument,
  ListPetsDocument,
  type RetryOptions,
  StorefrontDocument,
} from '../../packages/client/src/index.ts';
import { contract } from '../../src/petstore/operations.ts';
import { openWriteMemory } from '../../src/writes/memory.ts';
import { rememberWrites } from '../../src/writes/remembered-writes.ts';
import { type Reported, type Send, sendWithApollo, sendWithUrql } from '../support/clients.ts';
import { startGateway } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { quiet } from '../support/log.ts';
import { openRest } from '../support/rest-gateway.ts';
import { type SeenRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { forgetful } from '../support/writes.ts';

type Create = (url: string, options: RetryOptions) => Send;

/** Every way in which the client package retries. */
const retryingClients: readonly (readonly [string, Create])[] = [
  [
    'Apollo Client',
    (uri, options) =>
      sendWithApollo(
        new ApolloClient({
          link: new HttpLink({ uri, headers: withKey, fetch: createRetryFetch(options) }),
          cache: new InMemoryCache(),
          incrementalHandler: new Defer20220824Handler(),
          defaultOptions: {
            query: { fetchPolicy: 'no-cache' },
            mutate: { fetchPolicy: 'no-cache' },
          },
        }),
      ),
  ],
  [
    'urql',
    (url, options) =>
      sendWithUrql(
        new Client({
          url,
          fetchOptions: { headers: withKey },
          fetch: createRetryFetch(options),
          exchanges: [fetchExchange],
          requestPolicy: 'network-only',
        }),
      ),
  ],
  [
    'fetch',
    (url, options) => async (document, variables) => {
      const body = JSON.stringify({ query: print(document), variables });
      const headers = { ...withKey, 'content-type': 'application/json' };
      const response = await createRetryFetch(options)(url, { method: 'POST', headers, body });
      return response.json();
    },
  ],
];

const pet = '{"id":1,"name":"Rex","categoryId":1}';
const refuse = (response: ServerResponse, status: number) => {
  response.setHeader('retry-after', '0');
  sendJson(response, status, `{"code":"no","message":"No.","status":${status}}`);
};

/** What the service does with the attempts of a write. `do` carries it out. */
type Fault = (attempt: number, response: ServerResponse, carryOut: () => void) => void;

const faults: Readonly<Record<string, Fault>> = {
  none(_attempt, response, carryOut) {
    carryOut();
    sendJson(response, 201, pet);
  },
  limitedOnce(attempt, response, carryOut) {
    if (attempt === 1) return refuse(response, 429);
    faults['none']?.(attempt, response, carryOut);
  },
  limitedTwice(attempt, response, carryOut) {
    if (attempt <= 2) return refuse(response, 429);
    faults['none']?.(attempt, response, carryOut);
  },
  limited: (_attempt, response) => refuse(response, 429),
  rejected: (_attempt, response) => refuse(response, 400),
  failedAfter(_attempt, response, carryOut) {
    carryOut();
    refuse(response, 503);
  },
  resetAfter(_attempt, response, carryOut) {
    carryOut();
    response.destroy();
  },
  silentAfter(_attempt, _response, carryOut) {
    carryOut();
  },
  brokenAfter(_attempt, response, carryOut) {
    carryOut();
    sendJson(response, 201, '{"id":1}');
  },
};
const faultOf = (name: string) => name.split(' ')[0] ?? '';

/** Starts a service that fails as the names of its pets say. */
async function startService() {
  const attempts = new Map<string, number>();
  const done = new Map<string, number>();
  /** Attempts of the second write of a pair whose first was done. */
  const afterFirst = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts.get(name) ?? 0;
  };
  const upstream = await startUpstream(({ body }, response) => {
    const { name } = JSON.parse(body);
    if (done.has(name.replace('limited second', 'none first'))) count(afterFirst, name);
    faults[faultOf(name)]?.(count(attempts, name), response, () => count(done, name));
  });
  return Object.assign(upstream, { attempts, done, afterFirst });
}

/** Starts a gateway in front of the service at this address. */
function startRestGateway(url: string) {
  const rest = openRest(url, { timeoutMs: 1500, limits: { halfOpenAfterMs: 20 } });
  const memory = openWriteMemory(rest.keys, quiet.metrics);
  return startGateway({ petStore: rememberWrites(contract, rest, memory, forgetful) });
}

/**
 * Starts a proxy that closes the connection once instead of returning the response to a request that
 * contains `lost`.
 */
function startProxy(gatewayUrl: string) {
  const lost = new Set<string>();
  return startUpstream(async ({ headers, body }, response) => {
    const names = ['authorization', 'content-type', 'accept', 'idempotency-key'];
    const sent = Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
    const init = { method: 'POST', headers: sent, body };
    const answer = await fetch(`${gatewayUrl}/graphql`, init);
    const text = await answer.text();
    const isLost = body.includes('lost') && !lost.has(body);
    lost.add(body);
    if (isLost) return void response.destroy();
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      .end(text);
  });
}

const Pair = parse(
  'mutation Pair($first: AddPetInput!, $second: AddPetInput!) { first: addPet(input: $first) { id } second: addPet(input: $second) { id } }',
);
const named = (name: string) => ({ name, categoryId: '1' });
const quick = { baseDelayMs: 1 };

/** Begins a response in parts, and returns what adds one. */
function beginParts(response: ServerResponse) {
  const type = 'multipart/mixed; boundary="-"; deferSpec=20220824';
  response.writeHead(200, { 'content-type': type });
  return (result: object, written?: () => void) => {
    const json = JSON.stringify(result);
    response.write(`\r\n---\r\nContent-Type: application/json\r\n\r\n${json}\r\n---`, written);
  };
}

describe.each(retryingClients)('retrying with %s', (name, create) => {
  it('does no write twice, whatever becomes of it', async () => {
    await using service = await startService();
    await using gateway = await startRestGateway(service.url);
    await using proxy = await startProxy(gateway.url);
    const send = create(proxy.url, quick);
    const kinds = [...Object.keys(faults), 'none lost', 'pair'];
    const reports = new Map<string, Reported & { readonly failed?: unknown }>();
    const names = Array.from({ length: 330 }, (_, i) => `${kinds[i % kinds.length]} ${i}`);
    const write = async (name: string) => {
      const id = name.split(' ').at(-1);
      const pair = { first: named(`none first ${id}`), second: named(`limited second ${id}`) };
      const report = await (name.startsWith('pair')
        ? send(Pair, pair)
        : send(AddPetDocument, { input: named(name) })
      ).catch((failed) => ({ failed }));
      reports.set(name, report);
    };
    const waiting = [...names];
    const work = async () => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await write(name);
    };
    await Promise.all(Array.from({ length: 25 }, work));

    expect(Math.max(...service.done.values())).toBe(1);
    expect(service.done.size).toBeGreaterThan(150);
    for (const name of names) {
      const { data, errors = [], failed } = reports.get(name) ?? {};
      expect(failed, name).toBeUndefined();
      const [outcome] = errors.map(({ extensions }) => extensions?.['outcome']);
      // A write that reports NOT_DONE was not done, and one that reports data was.
      if (name.startsWith('pair')) expect(errors.length, name).toBeGreaterThan(0);
      else if (outcome === 'NOT_DONE') expect(service.done.has(name), name).toBe(false);
      else if (outcome === undefined) {
        expect(data, name).toMatchObject({ addPet: { id: '1' } });
        expect(service.done.has(name), name).toBe(true);
      }
    }
    for (const kind of ['limitedTwice', 'none lost']) {
      const repeated = names.filter((name) => name.startsWith(kind));
      const recovered = repeated.filter((name) => reports.get(name)?.errors === undefined);
      expect(recovered.length, kind).toBeGreaterThan(repeated.length / 2);
    }
    for (const [name, attempts] of service.attempts) {
      const most = { limitedOnce: 2, limitedTwice: 3, limited: 3 };
      expect(attempts, name).toBeLessThanOrEqual(most[faultOf(name) as 'limited'] ?? 1);
    }
    // Of a pair, only the second write is sent again.
    expect(service.afterFirst.size).toBeGreaterThan(10);
    expect(Math.max(...service.afterFirst.values())).toBe(3);
  });

  it('repeats a read of which one field was limited, and reports the last errors', async () => {
    const calls = { orders: 0 };
    const respond = ({ url }: SeenRequest, response: ServerResponse) =>
      url.includes('orders') && ++calls.orders
        ? refuse(response, 429)
        : sendJson(response, 200, '[]');
    await using upstream = await startUpstream(respond);
    await using gateway = await startRestGateway(upstream.url);
    const send = create(`${gateway.url}/graphql`, { ...quick, maxAttempts: 4 });
    const { data, errors } = await send(StorefrontDocument);
    expect(data).toMatchObject({ available: [], orders: null });
    expect(errors).toMatchObject([{ path: ['orders'], extensions: { code: 'RATE_LIMITED' } }]);
    expect(calls.orders % 4).toBe(0);
  });

  it('does not repeat a result of which parts were passed on', async () => {
    let lists = 0;
    await using upstream = await startUpstream(({ url }, response) => {
      if (url.includes('orders')) return refuse(response, 429);
      lists++;
      sendJson(response, 200, `[${pet}]`);
    });
    await using gateway = await startRestGateway(upstream.url);
    const send = create(`${gateway.url}/graphql`, quick);
    const { errors } = await send(DeferredStorefrontDocument);
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    // The request with fetch accepts no parts, so its result is complete when it arrives.
    expect(lists).toBe(name === 'fetch' ? 3 : 1);
  });

  it('does not repeat a read that is cut off after its first part', async () => {
    await using gateway = await startUpstream((_, response) => {
      const first = { data: { __typename: 'Query', pets: [] }, hasNext: true };
      beginParts(response)(first, () => setImmediate(() => response.destroy()));
    });
    const send = create(gateway.url, quick);
    await send(DeferredStorefrontDocument).catch(() => {});
    expect(gateway.seen).toHaveLength(1);
  });

  const failed = (code: string, outcome: string, ...more: object[]) => {
    const error = { message: 'No.', path: ['first'], extensions: { code, outcome } };
    return JSON.stringify({ data: { first: null }, errors: [error], ...more[0] });
  };
  const refused = failed('RATE_LIMITED', 'NOT_DONE');
  const half = { data: { first: { __typename: 'Pet', id: '1' }, second: null } };
  it.each<[string, string, string | undefined, object | undefined]>([
    ['is lost', '', undefined, undefined],
    ['is unknown', failed('UPSTREAM_TIMEOUT', 'UNKNOWN'), 'UPSTREAM_TIMEOUT', { first: null }],
    ['is half done', failed('RATE_LIMITED', 'NOT_DONE', half), 'RATE_LIMITED', half.data],
    ['is refused', refused, 'FORBIDDEN', { first: null }],
  ])('reports a mutation of which the first attempt %s, and the others are refused', async (_, first, code, data) => {
    await using proxy = await startUpstream((_, response) => {
      const text = [first, refused][proxy.seen.length - 1] ?? failed('FORBIDDEN', 'NOT_DONE');
      if (text === '') response.destroy();
      else sendJson(response, 200, text);
    });
    const both = { first: named('Rex'), second: named('Tom') };
    const report: Reported = await create(proxy.url, quick)(Pair, both).catch(() => ({}));
    expect(proxy.seen).toHaveLength(3);
    expect(report.errors?.map(({ extensions }) => extensions?.['code'])[0]).toBe(code);
    if (data) expect(report.data).toMatchObject(data);
    else expect(report).toEqual({});
  });

  it('repeats a read whose response is cut off', async () => {
    await using proxy = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 99 });
      response.write('{', () => response.destroy());
    });
    await create(proxy.url, quick)(ListPetsDocument).catch(() => {});
    expect(proxy.seen).toHaveLength(3);
  });
});
