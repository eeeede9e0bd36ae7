import { describe, expect, it } from 'vitest';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  CancelledError,
  ErrorResponse,
  IdempotencyKeyReusedError,
  InvalidResponseError,
  RefusedStatementError,
} from '../../src/contract/error.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { recording } from '../support/recording.ts';

const authorization = 'Bearer demo-key';
const json = 'application/json';

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

async function send(
  path: string,
  { method = 'GET', headers = { authorization }, body }: RequestOptions = {},
) {
  const { petStore, calls } = recording(await openBuiltin());
  await using opened = await openGateway({ petStore });
  const response = await opened.gateway(
    new Request(`http://gateway.test${path}`, { method, headers, ...(body && { body }) }),
  );
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, calls };
}

const post = (path: string, body: string | Uint8Array<ArrayBuffer>, type: string | null = json) =>
  send(path, {
    method: 'POST',
    headers: { authorization, ...(type === null ? {} : { 'content-type': type }) },
    body,
  });

describe('the REST interface', () => {
  it('adds a pet with exact digits, with and without a status', async () => {
    const body = '{"name":"Rex","categoryId":9223372036854775807}';
    const added = await post('/v1/pets', body, 'application/json; charset=utf-8');
    expect(added.status).toBe(201);
    expect(added.text).toBe('{"id":13,"name":"Rex","categoryId":9223372036854775807}');
    const sold = await post('/v1/pets', '{"name":"Rex","categoryId":1,"status":"sold","id":99}');
    expect(sold.text).toBe('{"id":13,"name":"Rex","categoryId":1,"status":"sold"}');
    const notation = await post('/v1/pets', '{"name":"Rex","categoryId":-9.007199254740993e15}');
    expect(notation.text).toBe('{"id":13,"name":"Rex","categoryId":-9007199254740993}');
  });

  it('sends Sunset and Link headers with the deprecated operation', async () => {
    for (const path of ['/v1/pets/1', '/v1/pets/404404', '/v1/pets/abc']) {
      const { headers } = await send(path);
      expect(headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
      expect(headers.get('link')).toBe('</v1/pets>; rel="successor-version"');
    }
    expect((await send('/v1/pets')).headers.get('sunset')).toBeNull();
  });

  it('lets no shared cache serve a response to another key', async () => {
    for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/404404', '/v1/store/orders']) {
      for (const options of [{}, { headers: {} }, { method: 'HEAD' }]) {
        const { headers } = await send(path, options);
        expect(headers.get('cache-control'), path).toBe('private, no-cache');
        expect(headers.get('vary'), path).toBe('Authorization');
      }
    }
  });

  it('decodes a percent-encoded id', async () => {
    expect((await send('/v1/pets/%31')).text).toMatch(/^\{"id":1,/);
  });

  it('sends the HTTP status in every Error body, whatever status the store returned', async () => {
    const petStore = await openBuiltin();
    const body = { code: 'x', message: 'y', status: 99_999 };
    for (const [thrown, status, code] of [
      [new ErrorResponse(404, 'y', { body }), 404, 'x'],
      [new ErrorResponse(200, 'y', { body }), 502, 'bad_gateway'],
      [new ErrorResponse(999, 'y', { body }), 502, 'bad_gateway'],
      [new BackendUnavailableError('y'), 503, 'unavailable'],
      [new BackendTimeoutError('y'), 504, 'timeout'],
      [new InvalidResponseError('y'), 502, 'invalid_response'],
      [new IdempotencyKeyReusedError(), 422, 'idempotency_key_reused'],
      [new CancelledError(), 503, 'cancelled'],
      [new RefusedStatementError('y'), 500, 'internal_error'],
      [new Error('y'), 500, 'internal_error'],
    ] as const) {
      const listOrders = () => Promise.reject(thrown);
      await using opened = await openGateway({ petStore: { ...petStore, listOrders } });
      const request = new Request('http://gateway.test/v1/store/orders', {
        headers: { authorization },
      });
      const response = await opened.gateway(request);
      const received = await response.json();
      expect([response.status, received.status, received.code]).toEqual([status, status, code]);
      expect(received.message === 'y').toBe(status !== 500 && !/^(?:bad|ide|can)/.test(code));
      expect(opened.logged.length).toBe(Number(status === 500));
    }
  });

  const unknown = { writeOutcome: 'UNKNOWN' } as const;
  it.each([
    [new Error('y'), 'An internal error occurred. The write may have been carried out.'],
    [new RefusedStatementError('y'), 'An internal error occurred. Try again later.'],
    [new InvalidResponseError('y'), 'y. The write may have been carried out.'],
    [
      new ErrorResponse(409, 'No', { body: { code: 'x', message: 'No', status: 409 }, ...unknown }),
      'No. The write may have been carried out.',
    ],
  ])('says whether a write may have been carried out: %s', async (thrown, message) => {
    const createPet = () => Promise.reject(thrown);
    const petStore = { ...(await openBuiltin()), createPet };
    await using opened = await openGateway({ petStore });
    const headers = { authorization, 'content-type': json };
    const body = '{"name":"Rex","categoryId":1}';
    const request = new Request('http://gateway.test/v1/pets', { method: 'POST', headers, body });
    const response = await opened.gateway(request);
    expect(await response.json()).toMatchObject({ message });
  });

  it('handles HEAD like GET', async () => {
    expect((await send('/v1/pets', { method: 'HEAD' })).status).toBe(200);
  });

  it.each([
    ['/v1/pets?limit=0', 'limit: expected an integer from 1 to 100, received "0".'],
    ['/v1/pets?limit=', 'limit: expected an integer from 1 to 100, received "".'],
    ['/v1/pets?limit=1e1', 'limit: expected an integer from 1 to 100, received "1e1".'],
    ['/v1/pets?limit=1&limit=2', 'limit: expected one value, received 2.'],
    ['/v1/pets?status=lost', 'status: expected one of available, pending, sold, received "lost".'],
    ['/v1/pets/abc', 'petId: expected an int64, received "abc".'],
    ['/v1/pets/1%2F2', 'petId: expected an int64, received "1%2F2".'],
    ['/v1/pets/%zz', 'petId: expected an int64, received "%zz".'],
  ])('responds with 400 to %s without calling the backend', async (path, message) => {
    const { status, text, calls } = await send(path);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({ code: 'invalid_value', message, status: 400 });
    expect(calls).toEqual([]);
  });

  it.each([
    ['/v1/pets', '', json],
    ['/v1/pets', '{"name":"Rex"}', json],
    ['/v1/pets', '{"categoryId":1}', json],
    ['/v1/pets', '{"name":"Rex","categoryId":"1"}', json],
    ['/v1/pets', '{"name":"Rex","categoryId":1.00000000000000001}', json],
    ['/v1/pets', `{"name":${'['.repeat(99_000)}1234567890123456789${']'.repeat(99_000)}}`, json],
    ['/v1/pets', '{"name":"Rex","categoryId":1', json],
    ['/v1/pets', new Uint8Array([0x22, 0xff, 0x22]), json],
    ['/v1/pets', '{"name":"Rex","categoryId":1}', null],
    ['/v1/pets', '{"name":"Rex","categoryId":1}', 'text/plain'],
    ['/v1/pets', '{"name":"Rex","categoryId":1}', 'application/json; charset=latin1'],
    ['/quickstart/messages', '{"message":5}', json],
    ['/quickstart/messages', '{"message":"Hello"}', null],
  ])('responds with 400 to POST %s %s %s without calling the backend', async (path, body, type) => {
    const { status, text, calls } = await post(path, body || ' ', type);
    const error = { code: 'invalid_value', message: expect.any(String), status: 400 };
    expect([status, JSON.parse(text)]).toEqual([400, error]);
    expect(calls).toEqual([]);
  });

  it('responds with 413 to a body larger than 256 KiB', async () => {
    const { status, text, calls } = await post('/v1/pets', `{"name":"${'x'.repeat(262_144)}"}`);
    const message = 'The request body is too large: expected at most 262144 bytes.';
    expect(status).toBe(413);
    expect(JSON.parse(text)).toEqual({ code: 'body_too_large', message, status });
    expect(calls).toEqual([]);
  });

  it.each([
    ['/v1/pets', {}, ''],
    ['/v1/store/orders', {}, ''],
    ['/v1/pets', { authorization: 'Basic abc' }, ''],
    ['/v1/pets', { authorization: 'Bearer wrong-key' }, ', error="invalid_token"'],
  ])('responds with 401 to %s with the headers %j', async (path, headers, challenge) => {
    const { status, text, headers: received } = await send(path, { headers });
    expect([status, JSON.parse(text).status]).toEqual([401, 401]);
    expect(received.get('www-authenticate')).toBe(`Bearer realm="pet store"${challenge}`);
  });

  it('responds with 404 to an unknown pet and to an unknown path', async () => {
    const pet = await send('/v1/pets/404404');
    expect(JSON.parse(pet.text)).toMatchObject({ code: 'pet_not_found', status: 404 });
    const paths = ['/v1/', '/v1/pets/', '/v1/pets/1/2', '/v1/cats', '/quickstart/', '/v2/pets'];
    for (const path of paths) {
      const { status, text } = await send(path);
      expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'not_found', status: 404 }]);
    }
  });

  it('names the path of messages, whose base generated clients ignore', async () => {
    const { status, text } = await post('/v1/messages', '{"message":"Hello"}');
    const message = 'This path does not exist. Messages are at /quickstart/messages.';
    expect([status, JSON.parse(text)]).toEqual([404, { code: 'not_found', message, status: 404 }]);
  });

  it.each([
    ['/v1/pets', 'DELETE', 'GET, HEAD, POST'],
    ['/v1/store/orders', 'PUT', 'GET, HEAD'],
    ['/quickstart/messages', 'GET', 'POST'],
    ['/v1/pets', 'OPTIONS', 'GET, HEAD, POST'],
    ['/livez', 'DELETE', 'GET, HEAD'],
  ])('responds with 405 to %s with %s, with an Allow header', async (path, method, allow) => {
    const { status, text, headers } = await send(path, { method });
    expect([status, JSON.parse(text).status, headers.get('allow')]).toEqual([405, 405, allow]);
  });

  it('serves the OpenAPI document as JSON, with itself as the first server', async () => {
    const { status, headers, text } = await send('/v1/openapi.json', { headers: {} });
    expect([status, headers.get('etag')]).toEqual([200, expect.stringMatching(/^"/)]);
    expect(JSON.parse(text)).toMatchObject({
      openapi: '3.0.3',
      info: { version: '1.0.0' },
      servers: [{ url: '/v1' }, { url: '{base_url}' }, { url: '{staging_base_url}' }],
      paths: {
        '/pets': { get: { operationId: 'listPets' }, post: { operationId: 'createPet' } },
        '/pets/{petId}': { get: { operationId: 'getPet', deprecated: true } },
        '/store/orders': { get: {} },
        '/messages': { servers: [{ url: '/quickstart' }, {}] },
      },
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
    });
  });

  it('is not served with a REST backend', async () => {
    await using opened = await openGateway({ createV1: undefined });
    const response = await opened.gateway(new Request('http://gateway.test/v1/pets'));
    expect(response.status).toBe(404);
  });
});
