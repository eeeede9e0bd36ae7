import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Agent, fetch } from 'undici';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import { createGateway, loadConfig } from '../../src/index.ts';
import { createAuthority } from '../support/authority.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { callWith, openBuiltin, startGateway, type TestOptions } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { mountInNode } from '../support/mounted.ts';
import { sendForParts } from '../support/parts.ts';

const run = promisify(execFile);
const authority = disposeAfterAll(createAuthority());
const dispatcher = new Agent({ connect: { ca: authority.ca } });
afterAll(() => dispatcher.destroy());

/** Ids beyond 2^53, which a double would round. */
const orders = `[${Array.from({ length: 2000 }, (_, id) => `{"id":${2n ** 53n + BigInt(id)}}`)}]`;

const long = 'x'.repeat(5000);
const longNamed = async () => ({ id: '1', name: long, categoryId: '1', status: undefined });

/** Opens a pet store with a hundred pets, these orders, and single pets with a long name. */
async function openLarge(text = orders) {
  const builtin = await openBuiltin();
  for (let index = 0; index < 100; index++) {
    const pet = { name: `Biscuit ${index}`, categoryId: '1', status: 'available' } as const;
    await builtin.createPet(callWith(), pet);
  }
  const listOrders = async () => new JsonText(text);
  return { ...builtin, listOrders, getPet: longNamed, createPet: longNamed };
}

/** Starts a gateway that serves HTTPS and compresses. */
const start = async (options: TestOptions = {}) =>
  startGateway({
    petStore: await openLarge(),
    compression: true,
    ...options,
    tls: authority.issue('IP:127.0.0.1'),
  });

const list = '{ pets(limit: 100) { id name categoryId status } }';

const gateway = disposeAfterAll(await start({ explain: true, corsOrigins: ['https://a.example'] }));

/** Returns the headers and the decoded body that curl receives. */
async function curl(path: string, ...options: string[]) {
  const key = ['-H', `authorization: ${withKey.authorization}`];
  const to = ['--cacert', authority.caFile, `${gateway.url}${path}`];
  const { stdout } = await run('curl', ['-sSi', ...options, ...key, ...to]);
  const [head = '', body] = stdout.split('\r\n\r\n');
  const headers = new Headers(
    head.split('\r\n').flatMap((line): [string, string][] => {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
  return { headers, body };
}

const json = ['-H', 'content-type: application/json'];
const query = (text: string, variables = {}) => [
  ...json,
  '-d',
  JSON.stringify({ query: text, variables }),
];

describe('a gateway with COMPRESSION=on', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
  ])('compresses the result of a query for curl that accepts %s', async (accepted, coding) => {
    const whole = await curl('/graphql', ...query(list));
    expect(whole.headers.get('content-encoding')).toBe(null);
    expect(whole.headers.get('vary')).toBe('Accept-Encoding, Origin');
    const coded = ['--compressed', '-H', `accept-encoding: ${accepted}`];
    const compressed = await curl('/graphql', ...coded, ...query(list));
    expect(compressed.headers.get('content-encoding')).toBe(coding);
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding, Origin');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(2000);
    expect(compressed.body).toBe(whole.body);
    expect(JSON.parse(compressed.body ?? '').data.pets).toHaveLength(100);
  });

  it('keeps every digit, in the lists of /v1 and in a link, too', async () => {
    const link = `/graphql?query=${encodeURIComponent('{orders}')}`;
    for (const [path, body, vary] of [
      ['/v1/store/orders', orders, 'Authorization, Accept-Encoding, Origin'],
      [
        link,
        `{"data":{"orders":${orders}}}`,
        'Authorization, Accept, X-Petstore-Explain, Accept-Encoding, Origin',
      ],
    ] as const) {
      const { headers, body: received } = await curl(path, '--compressed');
      expect(headers.get('content-encoding')).toBe('br');
      expect(headers.get('vary')).toBe(vary);
      expect(received === body).toBe(true);
    }
  });

  it('has the same headers for HEAD as for GET', async () => {
    const { headers } = await curl('/v1/store/orders', '--compressed', '--head');
    expect(headers.get('content-encoding')).toBe('br');
  });

  it('does not compress a response in parts', async () => {
    const send = (request: Request) =>
      fetch(request.url, {
        method: 'POST',
        headers: { ...Object.fromEntries(request.headers), 'accept-encoding': 'br' },
        body: request.body as never,
        duplex: 'half',
        dispatcher,
      }) as unknown as Promise<Response>;
    const deferred = `{ pets(limit: 1) { id } ... @defer { orders } }`;
    const response = await sendForParts(send, gateway.url, deferred);
    expect(response.headers.get('content-type')).toContain('multipart/mixed');
    expect(response.headers.get('content-encoding')).toBe(null);
    expect(await response.text()).toContain(orders);
  });

  it('finishes a response when it closes, and forgets a client that leaves', async () => {
    const large = await openLarge(orders.repeat(100).replaceAll('][', ','));
    const leaving = new AbortController();
    const four = Promise.withResolvers<void>();
    const called = Promise.withResolvers<void>();
    let calls = 0;
    const service = await start({
      petStore: {
        ...large,
        async listOrders() {
          calls++;
          if (calls === 4) {
            setImmediate(() => leaving.abort());
            four.resolve();
          }
          if (calls === 5) called.resolve();
          await four.promise;
          return large.listOrders();
        },
      },
    });
    const send = (signal?: AbortSignal) => {
      const body = '{"query":"{ orders }"}';
      const headers = { ...withKey, 'content-type': 'application/json', 'accept-encoding': 'br' };
      const init = { method: 'POST', headers, body, dispatcher, ...(signal && { signal }) };
      return fetch(`${service.url}/graphql`, init);
    };
    const left = await Promise.allSettled([1, 2, 3, 4].map(() => send(leaving.signal)));
    expect(left.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    await vi.waitFor(() => expect(service.requests()).toHaveLength(4));
    const last = send();
    await called.promise;
    const closed = service.close(10_000);
    const response = await last;
    expect(response.headers.get('content-encoding')).toBe('br');
    const { text } = await large.listOrders();
    expect((await response.text()) === `{"data":{"orders":${text}}}`).toBe(true);
    await closed;
    await large[Symbol.asyncDispose]();
  });
});

it('is off in a mounted gateway, whose server compresses', async () => {
  const env = { COMPRESSION: 'on', DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' };
  await using mounted = await createGateway(loadConfig(env));
  await using server = await mountInNode(mounted);
  const query = '{ __schema { types { name description fields { name description } } } }';
  const headers = { ...withKey, 'content-type': 'application/json', 'accept-encoding': 'br' };
  const init = { method: 'POST', headers, body: JSON.stringify({ query }) };
  const response = await fetch(`${server.url}/api/graphql`, init);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(4096);
  expect(response.headers.get('content-encoding')).toBe(null);
  expect(response.headers.get('vary')).toBe('Origin');
});
