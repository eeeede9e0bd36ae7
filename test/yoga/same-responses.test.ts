import { describe, expect, it } from 'vitest';
import manifest from '../../packages/client/persisted-documents.json' with { type: 'json' };
import { parseJson } from '../../src/contract/json.ts';
import { invalidValues } from '../graphql/invalid-values.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { rawGet, sendRaw } from '../support/raw-http.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { postTo, startMounted, startYoga } from '../support/yoga.ts';

const messages = '{"id":"m1","message":"Hi","status":"queued","createdAt":"2026-11-23T10:00:00Z"}';
const pet = (id: string) => `{"id":${id},"name":"Rex","categoryId":-2,"status":"sold"}`;

/** Starts a REST service whose responses have large ids, and a wrong status. */
async function startService() {
  const service = await startUpstream(({ method, url }, response) => {
    const id = /^\/v1\/pets\/(-?\d+)/.exec(url)?.[1];
    if (url.startsWith('/v1/store')) sendJson(response, 200, '[{"id":9007199254740993,"n":1.50}]');
    else if (url.startsWith('/messages')) sendJson(response, 202, messages);
    else if (method === 'POST') sendJson(response, 201, pet('9223372036854775807'));
    else if (id === '404') sendJson(response, 404, '{"code":"no","message":"None.","status":404}');
    else if (id) sendJson(response, 200, pet(id));
    else sendJson(response, 200, `[${pet('1')},{"id":2,"name":"Tom","categoryId":3,"status":"x"}]`);
  });
  disposeAfterAll(service);
  const address = { PETSTORE_BASE_URL: `${service.url}/v1`, MESSAGES_BASE_URL: service.url };
  return { ...address, FORWARD_HEADERS: 'x-tenant' };
}

/** What clients see of a response, without the id and the order of fields that run concurrently. */
async function described(response: Response) {
  const text = await response.text();
  const shown = text.replaceAll(/"requestId":"[^"]+"/g, '"requestId":"…"');
  if (!text.startsWith('{')) return { status: response.status, body: shown };
  const { data, extensions, errors } = parseJson(shown) as Record<string, unknown[]>;
  const sorted = errors?.map((error: unknown) => JSON.stringify(error)).toSorted();
  return { status: response.status, data, extensions, errors: sorted };
}

const env = await startService();
const servers = [disposeAfterAll(await startMounted(env)), disposeAfterAll(await startYoga(env))];

/** Sends a request to both servers. */
async function compare(body: string, init?: RequestInit) {
  const [gateway, yoga] = await Promise.all(
    servers.map(async (server) => described(await postTo(server, body, init))),
  );
  return { gateway, yoga };
}

describe('examples/yoga responds as the gateway does', () => {
  const named = Object.values(manifest).filter((query) => !query.includes('@defer'));
  const given = {
    limit: 3,
    id: '9007199254740993',
    input: { name: 'x', categoryId: '1' },
    message: 'x',
  };
  it.each(named)('to the named operation %s', async (query) => {
    const declared = Object.entries(given).filter(([name]) => query.includes(`$${name}:`));
    const body = JSON.stringify({ query, variables: Object.fromEntries(declared) });
    const { gateway, yoga } = await compare(body);
    expect(gateway?.data).toBeDefined();
    expect(yoga).toEqual(gateway);
  });

  it.each(invalidValues)('to the invalid value in %s %j', async (query, values) => {
    const { gateway, yoga } = await compare(JSON.stringify({ query, variables: values }));
    expect(gateway?.errors).toBeDefined();
    expect(yoga).toEqual(gateway);
  });

  const id = 'query ($id: ID!) { pet(id: $id) { id } }';
  it.each([
    ['an id as a variable', `{"query":"${id}","variables":{"id":9223372036854775807}}`, {}],
    ['a default', `{"query":"${id.replace('!', '! = 9223372036854775807')}"}`, {}],
    ['a literal', '{"query":"{ pet(id: 9223372036854775807) { id } orders }"}', {}],
    ['a 404', '{"query":"{ pet(id: 404) { id } }"}', {}],
    ['no key', '{"query":"{ pets { id } orders }"}', { authorization: '' }],
    ['a syntax error', '{"query":"{ pets "}', {}],
    ['JSON that is cut off', '{"query":', {}],
    ['an unknown member', '{"query":"{ orders }","other":1}', {}],
    ['deep nesting', `{"query":"{ orders }","variables":{"a":${'['.repeat(999)}`, {}],
    [
      'a form',
      'query=mutation{sendMessage(message:"x"){id}}',
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    ['headers to forward of 5 KB', '{"query":"{ orders }"}', { 'x-tenant': 'x'.repeat(5000) }],
    ['a deadline of 0', '{"query":"{ orders }"}', { 'x-petstore-timeout-ms': '0' }],
    ['a deadline beyond the most', '{"query":"{ orders }"}', { 'x-petstore-timeout-ms': '10001' }],
    ['a body of 300 KiB', JSON.stringify({ query: '{ orders }', a: 'x'.repeat(300 * 1024) }), {}],
    [
      'graphql-response+json and a variable',
      `{"query":"${id}"}`,
      { accept: 'application/graphql-response+json' },
    ],
  ])('to %s', async (_, body, headers) => {
    const { gateway, yoga } = await compare(body, { headers: headers as HeadersInit });
    expect(yoga).toEqual(gateway);
  });

  it.each([
    ['?variables={bad', 400],
    ['?query={__typename}&variables={bad', 400],
    ['?query={__typename}', 200],
  ])('to GET %s', async (search, status) => {
    const [gateway, yoga] = await Promise.all(
      servers.map(async ({ url }) => described(await fetch(`${url}/graphql${search}`))),
    );
    expect(gateway?.status).toBe(status);
    expect(yoga).toEqual(gateway);
  });

  it('to a malformed Host with 400, without a stack', async () => {
    for (const { url } of servers) {
      const request = rawGet('/graphql', 'Connection: close\r\n').replace('localhost', '[bad');
      const response = await sendRaw(url, request);
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toContain('Host: expected one host name');
      expect(response).not.toContain('.js');
    }
  });
});

it.each([
  ['a Yoga server', startYoga],
  ['a mounted gateway', startMounted],
])('%s with the demo key refuses the Host of another site', async (_, start) => {
  await using server = await start({ DATABASE_URL: ':memory:' });
  const statusFor = async (host: string) => {
    const request = rawGet('/graphql?query={__typename}', 'Connection: close\r\n');
    return (await sendRaw(server.url, request.replace('localhost', host))).slice(9, 12);
  };
  expect(await statusFor('localhost')).toBe('200');
  expect(await statusFor('rebound.example')).toBe('400');
});

it('allows the origins in CORS_ORIGINS only', async () => {
  await using yoga = await startYoga({
    DATABASE_URL: ':memory:',
    CORS_ORIGINS: 'https://shop.example',
  });
  const ask = async (origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    const response = await fetch(`${yoga.url}/graphql`, { method: 'OPTIONS', headers });
    return Object.fromEntries(response.headers);
  };
  expect(await ask('https://shop.example')).toMatchObject({
    'access-control-allow-origin': 'https://shop.example',
    'access-control-allow-methods': 'GET, POST',
  });
  expect(await ask('https://evil.example')).not.toHaveProperty('access-control-allow-origin');
});
