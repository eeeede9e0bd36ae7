import { describe, expect, it, vi } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { petsFirst } from '../support/parts.ts';
import { rawGet, sendRaw, statusesOf } from '../support/raw-http.ts';

describe('the routes', () => {
  it('accepts an HTTP/1.0 health check without a Host', async () => {
    await using service = await startGateway();
    expect(await sendRaw(service.url, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('redirects / to GraphQL and /v1 to its reference, and responds with 404 to unknown paths', async () => {
    await using service = await startGateway();
    for (const [path, location] of [
      ['/', '/graphql'],
      ['/v1', '/v1/docs'],
    ]) {
      const { status, headers, url } = await fetch(service.url + path, { redirect: 'manual' });
      const target = URL.parse(headers.get('location') ?? '', url)?.href;
      expect([status, target]).toEqual([302, service.url + location]);
    }
    for (const path of ['/nope', '/graphql//', '/x/graphql', '/graphql/health', '/health']) {
      const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        404,
        { code: 'not_found', status: 404 },
      ]);
    }
    for (const path of ['/graphql', '/graphql/']) {
      const query = await fetch(`${service.url}${path}?query={__typename}&x=/health`);
      expect(await query.text()).toBe('{"data":{"__typename":"Query"}}');
    }
  });

  it.each([
    ['in absolute form as its path', 'http://elsewhere.example/livez', 200],
    ['* as /', '*', 302],
  ])('serves a request target %s', async (_, target, status) => {
    await using service = await startGateway();
    const received = await sendRaw(service.url, rawGet(target, 'Connection: close\r\n'));
    expect(statusesOf(received)).toEqual([status]);
  });

  it('ends the request of a HEAD for deferred fragments', async () => {
    await using service = await startGateway();
    const headers = { authorization: 'Bearer demo-key', accept: 'multipart/mixed' };
    const search = new URLSearchParams({ query: petsFirst });
    for (const send of [fetch, service.gateway]) {
      const url = `${service.url}/graphql?${search}`;
      const request = new Request(url, { method: 'HEAD', headers });
      expect((await send(request)).headers.get('content-type')).toMatch(/^multipart\/mixed;/);
    }
    await vi.waitFor(() => expect(service.requests()).toHaveLength(2));
  });

  it('is live while it drains', async () => {
    await using service = await startGateway({ isDraining: () => true });
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  });

  it('responds with 500 and logs the error when the gateway throws', async () => {
    const admission = {
      admit() {
        throw new Error('secret');
      },
    };
    const corsOrigins = ['https://shop.example'];
    await using service = await startGateway({ admission, corsOrigins });
    const headers = { origin: 'https://shop.example', 'x-request-id': 'r1' };
    const response = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body: '{}' });
    expect(response.status).toBe(500);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(await response.json()).toEqual({
      errors: [
        {
          message: 'Internal error of the gateway. Include the requestId when you report it.',
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'r1' },
        },
      ],
    });
    const rest = await fetch(`${service.url}/v1/pets`);
    expect([rest.status, await rest.json()]).toMatchObject([
      500,
      { code: 'internal_server_error', status: 500 },
    ]);
    expect(service.logged).toHaveLength(2);
  });
});
