import { describe, expect, it } from 'vitest';
import { etagOf, matchesEtag } from '../../src/http/etag.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { petsFirst } from '../support/parts.ts';
import { rawGet, sendRaw } from '../support/raw-http.ts';

const authorization = 'Bearer demo-key';
const origin = 'https://shop.example';
const path = (document: string) => `/graphql?query=${encodeURIComponent(document)}`;
const pets = path('{ pets { id name } }');
const add = { method: 'POST', body: '{"name":"Rex","categoryId":1}' };

describe('If-None-Match', () => {
  const etag = etagOf('{}');
  const same = [etag, `W/${etag}`, `"other", W/${etag}`, `"other",${etag},`, `"a,b" , ${etag}`];
  const bare = etag.slice(1, -1);
  const others = [
    undefined,
    '',
    '"other"',
    bare,
    `"${bare}`,
    `w/${etag}`,
    '"a,*,b"',
    `"a,${bare},b"`,
  ];
  it.each([
    ...[...same, '*', ' * '].map((value) => [value, true] as const),
    ...others.map((value) => [value, false] as const),
  ])('%s matches: %s', (ifNoneMatch, matches) => {
    for (const own of [etag, `W/${etag}`]) expect(matchesEtag(ifNoneMatch, own)).toBe(matches);
  });
});

/** Starts a gateway, and sends to it the GET of a path. */
async function start(options: Parameters<typeof startGateway>[0] = {}) {
  const corsOrigins = [origin];
  const service = await startGateway({ petStore: await openBuiltin(), corsOrigins, ...options });
  const send = async (target: string, headers: Record<string, string> = {}, init = {}) => {
    const all = { authorization, origin, ...headers };
    const response = await fetch(service.url + target, { headers: all, ...init });
    const { status } = response;
    return { status, headers: response.headers, text: await response.text() };
  };
  return { ...service, send };
}

describe('the ETag of a result', () => {
  it.each([
    pets,
    path('{ __typename }'),
    '/v1/pets?limit=2',
    '/v1/pets/1',
    '/v1/store/orders',
  ])('of %s is weak, and a client that has it gets 304 with the same headers', async (target) => {
    await using service = await start();
    const { status, headers, text } = await service.send(target);
    const etag = String(headers.get('etag'));
    expect([status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{43}"$/)]);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('access-control-expose-headers')).toContain('etag');
    const unchanged = await service.send(target, { 'if-none-match': etag });
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);
    for (const [name, value] of headers) {
      if (/^(?:content-|x-request-id$|date$)/.test(name)) continue;
      expect([name, unchanged.headers.get(name)]).toEqual([name, value]);
    }
    expect(unchanged.headers.get('content-type')).toBeNull();
    const other = await service.send(target, { 'if-none-match': '"other"' });
    expect([other.status, other.text]).toEqual([200, text]);
    const head = await service.send(target, { 'if-none-match': etag }, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag')]).toEqual([304, etag]);
    expect(service.lines.filter((line) => line.includes('"status":304'))).toHaveLength(2);
  });

  it('changes with the result, which is executed each time', async () => {
    await using service = await start();
    for (const target of [pets, '/v1/pets']) {
      const first = String((await service.send(target)).headers.get('etag'));
      expect((await service.send(target, { 'if-none-match': first })).status).toBe(304);
      await service.send('/v1/pets', { 'content-type': 'application/json' }, add);
      const changed = await service.send(target, { 'if-none-match': first });
      expect([changed.status, changed.text.includes('Rex')]).toEqual([200, true]);
      expect(changed.headers.get('etag')).not.toBe(first);
    }
  });

  it('has the same Vary with and without the compressed result', async () => {
    await using service = await start({ compression: true, forwardHeaders: ['x-tenant'] });
    const target = path(
      `{ ${Array.from({ length: 9 }, (_, n) => `a${n}: pets { id name status }`)} }`,
    );
    const { headers } = await service.send(target, { 'accept-encoding': 'br' });
    expect(headers.get('content-encoding')).toBe('br');
    const vary = 'Authorization, Accept, X-Petstore-Explain, Accept-Encoding, x-tenant, Origin';
    const known = { 'accept-encoding': 'br', 'if-none-match': String(headers.get('etag')) };
    const unchanged = await service.send(target, known);
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('content-encoding')).toBeNull();
    for (const one of [headers, unchanged.headers]) expect(one.get('vary')).toBe(vary);
  });

  it.each<[string, string, Record<string, string>]>([
    ['a result with errors', path('{ pets { id } pet(id: 404404) { id } }'), {}],
    ['a refused document', path('{ nothing }'), { accept: 'application/json' }],
    ['an explained result', pets, { 'x-petstore-explain': '1' }],
    ['a whole result as an event', pets, { accept: 'text/event-stream' }],
    ['a result in parts', path(petsFirst), { accept: 'multipart/mixed' }],
    ['a request without a key', '/v1/pets', { authorization: '' }],
    ['an unknown pet', '/v1/pets/404404', {}],
    ['an unknown path', '/nothing', {}],
  ])('is missing for %s, which is never 304', async (_, target, headers) => {
    await using service = await start({ explain: true });
    const response = await service.send(target, { ...headers, 'if-none-match': '*' });
    expect([response.status === 304, response.headers.get('etag')]).toEqual([false, null]);
  });

  it('is missing for a POST', async () => {
    await using service = await start();
    const headers = { 'content-type': 'application/json', 'if-none-match': '*' };
    const body = JSON.stringify({ query: '{ pets { id } }' });
    const query = await service.send('/graphql', headers, { method: 'POST', body });
    expect([query.status, query.headers.get('etag')]).toEqual([200, null]);
    const added = await service.send('/v1/pets', headers, add);
    expect([added.status, added.headers.get('etag')]).toEqual([201, null]);
  });

  it('leaves files their own', async () => {
    await using service = await start({ graphiql: true });
    for (const target of ['/graphql', '/v1/docs', '/v1/openapi.json']) {
      const { headers } = await service.send(target, { accept: 'text/html' });
      expect([target, headers.get('etag')]).toEqual([target, expect.stringMatching(/^"[\w-]+"$/)]);
    }
  });

  it('works in a fetch handler, and with a raw request', async () => {
    await using service = await start();
    const request = (known: string) =>
      new Request(service.url + pets, { headers: { authorization, 'if-none-match': known } });
    const first = await service.gateway(request('"other"'));
    const unchanged = await service.gateway(request(String(first.headers.get('etag'))));
    expect([first.status, unchanged.status, await unchanged.text()]).toEqual([200, 304, '']);
    const head = `Authorization: ${authorization}\r\nIf-None-Match: *\r\nConnection: close\r\n`;
    const received = await sendRaw(service.url, rawGet('/v1/pets/1', head));
    expect(received).toMatch(/^HTTP\/1\.1 304 Not Modified\r\n/);
    expect(received.toLowerCase()).not.toMatch(/content-length|transfer-encoding|content-type/);
    expect(received).toMatch(/\r\n\r\n$/);
  });
});
