import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/index.ts';
import { owning } from '../support/dispose.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { mountInNode } from '../support/mounted.ts';
import { openMountable } from '../support/rest-gateway.ts';

const listPets = { query: '{ pets { id } }' };
const own = { authorization: 'Bearer a-key', 'content-type': 'application/json' };

/** Starts a REST service and the gateway, which forwards these headers to it. */
async function startForwarding(FORWARD_HEADERS: string) {
  const opened = await openMountable(undefined, { FORWARD_HEADERS });
  const server = await mountInNode(opened.gateway);
  return {
    gateway: opened.gateway,
    url: `${server.url}/api`,
    /** The values of a header in the calls so far. */
    seen: (name: string) => opened.upstream.seen.map(({ headers }) => headers[name]),
    ...owning(server, opened),
  };
}

const post = (url: string, headers: Record<string, string>) =>
  fetch(graphqlRequest(url, listPets, { ...own, ...headers }));

describe('FORWARD_HEADERS', () => {
  it('passes on the named headers, and no others', async () => {
    await using started = await startForwarding('X-Tenant, accept-language');
    const { url, gateway, seen } = started;
    const headers = { 'x-tenant': 'north', 'Accept-Language': 'é', 'x-other': '1', cookie: 'a=b' };
    await post(url, headers);
    await gateway(graphqlRequest('http://gateway.example', listPets, { ...own, ...headers }));
    for (const one of [headers, new Headers(headers)]) {
      const { authorization } = own;
      await gateway.execute(listPets.query, {}, { authorization, headers: one });
    }
    expect(seen('x-tenant')).toEqual(Array(4).fill('north'));
    expect(seen('accept-language')).toEqual(Array(4).fill('é'));
    expect(seen('authorization')).toEqual(Array(4).fill(own.authorization));
    for (const name of ['x-other', 'cookie']) expect(seen(name)).toEqual(Array(4).fill(undefined));
  });

  it('are named in Vary of a response to GET, also if the request has none', async () => {
    await using started = await startForwarding('x-tenant, Accept-Language');
    for (const headers of [own, { ...own, 'x-tenant': 'north' }]) {
      const url = 'http://gateway.example/?query={pets{id}}';
      const response = await started.gateway(new Request(url, { headers }));
      expect(response.headers.get('vary')).toBe(
        'Authorization, Accept, X-Petstore-Explain, x-tenant, accept-language',
      );
    }
  });

  it('reads those of execute without failing', async () => {
    await using started = await startForwarding('x-tenant, x-count');
    const { authorization } = own;
    const execute = (headers: Record<string, string | undefined>) =>
      started.gateway.execute(listPets.query, {}, { authorization, headers });
    const [message, code] = ['x-tenant: expected Latin-1 text.', 'BAD_REQUEST'];
    for (const value of ['Łódź', 'a\nb', 'a\u0001b']) {
      const result = await execute({ 'X-Tenant': value, 'x-other': 'Łódź' });
      expect(result).toMatchObject({ errors: [{ message, extensions: { code } }] });
    }
    expect(await execute({ 'x-tenant': undefined, 'x-count': 5 as never })).toHaveProperty('data');
    expect([started.seen('x-tenant'), started.seen('x-count')]).toEqual([[undefined], ['5']]);
  });

  it('refuses a repeated header with BAD_REQUEST', async () => {
    await using started = await startForwarding('x-tenant');
    const { url, seen } = started;
    const send = (repeated: Record<string, string[]>) =>
      new Promise((resolve, reject) => {
        const headers = { ...own, ...repeated };
        request(`${url}/graphql`, { method: 'POST', headers }, (response) =>
          json(response).then(resolve, reject),
        )
          .on('error', reject)
          .end(JSON.stringify(listPets));
      });
    expect(await send({ 'X-Tenant': ['north', 'south'] })).toMatchObject({
      errors: [
        {
          message: 'x-tenant: expected it once, received it again.',
          extensions: { code: 'BAD_REQUEST' },
        },
      ],
    });
    expect(seen('x-tenant')).toEqual([]);
    // Headers that are not passed on may be repeated.
    expect(await send({ 'x-other': ['1', '2'], 'x-tenant': ['north'] })).toHaveProperty('data');
    expect(seen('x-tenant')).toEqual(['north']);
  });

  it('shares reads only between requests with equal headers', async () => {
    await using started = await startForwarding('x-tenant,x-region');
    const { gateway, seen } = started;
    const { authorization } = own;
    const callers: Record<string, string>[] = [
      { 'x-tenant': 'north' },
      { 'x-tenant': 'north' },
      { 'x-tenant': 'south' },
      { 'x-region': 'north' },
      {},
      {},
    ];
    await Promise.all(
      callers.map((headers) => gateway.execute(listPets.query, {}, { authorization, headers })),
    );
    expect(seen('x-tenant')).toEqual(['north', 'south', undefined, undefined]);
    expect(seen('x-region')).toEqual([undefined, undefined, 'north', undefined]);
  });

  it('refuses more than 4 KiB', async () => {
    await using started = await startForwarding('x-tenant,x-region');
    const { url, seen } = started;
    const fits = { 'x-tenant': 'n'.repeat(2000), 'x-region': 'r'.repeat(2080) };
    expect((await post(url, fits)).status).toBe(200);
    const response = await post(url, { ...fits, 'x-region': 'r'.repeat(2081) });
    expect(response.status).toBe(431);
    expect(await response.json()).toMatchObject({
      errors: [
        {
          message: 'x-tenant, x-region: expected at most 4 KiB together, received 4097 bytes.',
          extensions: { code: 'BAD_REQUEST' },
        },
      ],
    });
    expect(seen('x-tenant')).toHaveLength(1);
  });

  it.each([
    ...['authorization', 'Cookie', 'host', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'],
    ...['transfer-encoding', 'proxy-authorization', 'proxy-connection', 'content-length'],
    ...['content-type', 'content-encoding', 'accept', 'accept-encoding', 'if-none-match', 'range'],
    ...['X-Forwarded-For', 'x-forwarded-prefix', 'forwarded', 'via', 'x-real-ip'],
    ...['idempotency-key', 'set-cookie', 'http2-settings', 'tracestate'],
    ...['expect', 'x-request-id', 'traceparent', 'x tenant', 'x-tenant,', 'x-tenant:', 'x-é', '*'],
  ])('can not name %j', (name) => {
    expect(() => loadConfig({ FORWARD_HEADERS: `x-tenant,${name}` })).toThrow(
      `FORWARD_HEADERS: expected comma-separated names such as x-tenant, but none that the gateway, HTTP or a proxy sets, and not authorization, cookie or idempotency-key, received "x-tenant,${name}"`,
    );
  });
});
