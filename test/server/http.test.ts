import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { auditServer, serverAudits } from 'graphql-http';
import { describe, expect, it, vi } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import { formatForTerminal } from '../../src/telemetry/terminal.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { recording } from '../support/recording.ts';

/** Sends raw bytes. @returns everything received until the connection ends. */
async function sendRaw(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(request);
  return text(socket);
}

function rawPost(body: string, headers: readonly string[]): string {
  return [
    'POST /graphql HTTP/1.1',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    '',
    body,
  ].join('\r\n');
}

describe('GraphQL over HTTP', () => {
  it('passes every audit of graphql-http', async () => {
    await using service = await startGateway();
    const results = await auditServer({ url: `${service.url}/graphql` });
    expect(results.length).toBe(serverAudits({ url: service.url }).length);
    expect(results.length).toBeGreaterThan(60);
    const failed = results.filter(({ status }) => status !== 'ok');
    expect(failed.map(({ id, name, status }) => `${id} ${status}: ${name}`)).toEqual([]);
  });

  it.each([
    ['POST', {}, /^query: expected the text of a document, received none\.$/],
    ['PUT', { query: '{ __typename }' }, /^Expected GET or POST, received another method\.$/],
    ['POST', { query: 'query A { __typename }', operationName: 'B' }, /^operationName: expected /],
    ['POST', { query: 'query A { __typename } query B { __typename }' }, /^operationName: expect/],
  ])('reports what was expected of %s %j', async (method, body, message) => {
    await using service = await startGateway();
    const headers = { 'content-type': 'application/json' };
    const init = { method, headers, body: JSON.stringify(body) };
    const response = await fetch(`${service.url}/graphql`, init);
    expect(await response.json()).toMatchObject({
      errors: [{ message: expect.stringMatching(message) }],
    });
  });

  it.each([
    [
      '{"query":"{ __typename }","operationName":12345678901234567890}',
      'operationName',
      'a number',
    ],
    [
      '{"query":"{ __typename }","operationName":1.2345678901234567890}',
      'operationName',
      'a number',
    ],
    ['{"query":12345678901234567890}', 'query', 'a number'],
    ['{"query":[]}', 'query', 'an array'],
    ['{"query":{}}', 'query', 'an object'],
    ['{"query":true}', 'query', 'a boolean'],
    ['{"query":"{ __typename }","variables":12345678901234567890}', 'variables', 'a number'],
    ['{"query":"{ __typename }","variables":1.2345678901234567890}', 'variables', 'a number'],
    ['{"query":"{ __typename }","extensions":"x"}', 'extensions', 'a string'],
    ['12345678901234567890', 'body', 'a number'],
    ['1.2345678901234567890', 'body', 'a number'],
    ['null', 'body', 'null'],
  ])('reports the JSON type that was received in %s', async (body, name, received) => {
    await using service = await startGateway();
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body });
    const message = expect.stringMatching(`^${name}: expected .+, received ${received}\\.( |$)`);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { errors: [{ message }] },
    ]);
  });

  it.each([
    'application/json',
    'application/graphql-response+json',
  ])('responds with 400 to a GET without a query from a client that accepts %s', async (accept) => {
    await using service = await startGateway();
    const response = await fetch(`${service.url}/graphql`, { headers: { accept } });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain(accept);
    expect(await response.json()).toMatchObject({
      errors: [{ message: 'query: expected the text of a document, received none.' }],
    });
  });

  it.each([
    null,
    {},
    { clientLibrary: { name: 'x', version: '1' } },
    { persistedQuery: 5 },
  ])('accepts the extensions %j', async (extensions) => {
    await using service = await startGateway();
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __typename }', extensions }),
    });
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('requires POST for a mutation', async () => {
    await using service = await startGateway();
    const query = encodeURIComponent('mutation { sendMessage(message: "a") { id } }');
    const response = await fetch(`${service.url}/graphql?query=${query}`);
    expect(await response.json()).toMatchObject({
      errors: [{ message: expect.stringMatching(/^Expected POST for a mutation, received GET\./) }],
    });
  });

  it('refuses bodies that any web page could send', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const query = 'mutation { addPet(input: { name: "x", categoryId: 1 }) { id } }';
    const form = new FormData();
    form.set('operations', JSON.stringify({ query }));
    form.set('map', '{}');
    for (const body of [new URLSearchParams({ query }), form, query]) {
      const response = await fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-key' },
        body,
      });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({
        errors: [
          {
            message: expect.stringMatching(
              /^content-type: expected application\/json in UTF-8, received "[a-z]+\/.+"\. Send/,
            ),
            extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' },
          },
        ],
      });
    }
    expect(calls).toEqual([]);
  });

  it.each([
    ['{', 'BAD_REQUEST'],
    ['[]', 'BAD_REQUEST'],
    ['null', 'BAD_REQUEST'],
    ['{"query":5}', 'BAD_REQUEST'],
    ['{"query":"{pets{id}}","variables":"x"}', 'BAD_REQUEST'],
  ])('responds with 400 to the body %s without quoting it', async (body, code) => {
    await using service = await startGateway();
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
      },
      body,
    });
    expect(response.status).toBe(400);
    const result = await response.json();
    expect(result).toMatchObject({ errors: [{ extensions: { code } }] });
    expect(result.errors[0].extensions).not.toHaveProperty('originalError');
  });

  it.each([
    ['null', 'body: expected a JSON object, received null.'],
    ['5', 'body: expected a JSON object, received a number.'],
    ['{"query":["{pets{id}}"]}', 'query: expected a string, received an array.'],
    [
      '{"query":"{pets{id}}","variables":[]}',
      'variables: expected a JSON object, received an array.',
    ],
    [
      '{"query":"{pets{id}}","extra":0}',
      'body: expected query, variables, operationName, extensions or documentId, received "extra".',
    ],
  ])('describes what it expected of the body %s', async (body, message) => {
    await using service = await startGateway();
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ errors: [{ message }] });
  });

  it('ignores unknown members of the body that are null', async () => {
    await using service = await startGateway();
    const headers = { 'content-type': 'application/json' };
    const body = '{"query":"{__typename}","extra":null}';
    const response = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body });
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('responds with 413 to a body above 256 KiB, with and without a Content-Length', async () => {
    await using service = await startGateway();
    const body = JSON.stringify({
      query: '{ pets { id } }',
      extensions: { x: 'x'.repeat(262_144) },
    });
    for (const sent of [body, new Blob([body]).stream()]) {
      const response = await fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: sent,
        duplex: 'half',
      } as RequestInit);
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'BODY_TOO_LARGE' } }],
      });
    }
  });

  it('responds with 400 to variables in a URL that are not JSON', async () => {
    await using service = await startGateway();
    const url = `${service.url}/graphql?query=%7B__typename%7D&variables=%7Bbad`;
    const response = await fetch(url, { headers: { accept: 'application/graphql-response+json' } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ message: 'variables: expected JSON, received other text.' }],
    });
  });

  it('executes no mutation from a GET', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const query = encodeURIComponent('mutation { sendMessage(message: "x") { id } }');
    const response = await fetch(`${service.url}/graphql?query=${query}`, {
      headers: { authorization: 'Bearer demo-key' },
    });
    expect(response.status).toBe(405);
    expect(calls).toEqual([]);
  });

  it('rejects two Authorization headers as malformed, before any call', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const received = await sendRaw(
      service.url,
      rawPost('{"query":"{ pets { id } }"}', [
        'Host: localhost',
        'Authorization: Bearer demo-key',
        'Authorization: Bearer demo-key',
      ]),
    );
    expect(received).toContain('"code":"UNAUTHENTICATED"');
    expect(received).toContain('malformed');
    expect(calls).toEqual([]);
  });
});

describe('the HTTP server', () => {
  it.each([
    '[bad',
    'localhost:99999',
    '256.256.256.256',
    '[:::::]',
    'a b',
    'a/b',
    'http://x',
    'user@x',
    'x:port',
    '',
  ])('responds with 400 to the Host %j, without a stack trace', async (host) => {
    await using service = await startGateway();
    const received = await sendRaw(
      service.url,
      rawPost('{"query":"{__typename}"}', [`Host: ${host}`]),
    );
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).not.toMatch(/at .*\.[jt]s|node_modules/);
  });

  it.each([
    'localhost',
    'gateway.example:8080',
    '127.0.0.1:4000',
    '[::1]:4000',
    'my_host',
  ])('accepts the Host %s', async (host) => {
    await using service = await startGateway();
    const received = await sendRaw(
      service.url,
      rawPost('{"query":"{__typename}"}', [`Host: ${host}`]),
    );
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('accepts only loopback hosts for a demo', async () => {
    await using service = await startGateway({ onlyLoopbackHosts: true });
    const send = (host: string) =>
      sendRaw(service.url, rawPost('{"query":"{__typename}"}', [`Host: ${host}`]));
    for (const host of ['localhost:4000', '127.0.0.1', '[::1]:1', 'app.localhost']) {
      expect(await send(host)).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example']) {
      expect(await send(host)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it('accepts an HTTP/1.0 health check without a Host', async () => {
    await using service = await startGateway();
    expect(await sendRaw(service.url, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('redirects / to GraphQL, and responds with 404 to unknown paths', async () => {
    await using service = await startGateway();
    const home = await fetch(service.url, { redirect: 'manual' });
    expect([home.status, home.headers.get('location')]).toEqual([302, './graphql']);
    for (const path of ['/nope', '/graphql/', '/x/graphql', '/graphql/health', '/health']) {
      const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        404,
        { code: 'not_found', status: 404 },
      ]);
    }
    const query = await fetch(`${service.url}/graphql?query={__typename}&x=/health`);
    expect(await query.text()).not.toBe('');
  });

  it.each([
    'http://elsewhere.example/livez',
    '*',
  ])('responds to the request target %s', async (target) => {
    await using service = await startGateway();
    const received = await sendRaw(
      service.url,
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(received).toMatch(/^HTTP\/1\.1 (?:200|302|404) /);
  });

  it('is live but not ready while it drains', async () => {
    let isDraining = false;
    await using service = await startGateway({ isDraining: () => isDraining });
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    isDraining = true;
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  });

  it.each([
    'multipart/mixed',
    'text/event-stream',
    'text/html',
    'image/png',
  ])('sends JSON to a client that accepts only %s', async (accept) => {
    await using service = await startGateway();
    const response = await fetch(`${service.url}/graphql?query={__typename}`, {
      headers: { accept },
    });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it('responds with 500 and logs the error when the gateway throws', async () => {
    const admission = {
      enter() {
        throw new Error('secret');
      },
      leave() {},
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

  it('allows cross-origin requests only from the configured origins', async () => {
    const corsOrigins = ['https://shop.example', 'https://admin.example'];
    await using service = await startGateway({ corsOrigins });
    const preflight = async (origin: string) => {
      const { headers } = await fetch(`${service.url}/graphql`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      return [
        headers.get('access-control-allow-origin'),
        headers.get('access-control-allow-credentials'),
      ];
    };
    const send = async (origin: string) => {
      const { headers } = await fetch(`${service.url}/v1/openapi.json`, { headers: { origin } });
      return [headers.get('access-control-allow-origin'), headers.get('vary')];
    };
    for (const origin of corsOrigins) {
      expect(await preflight(origin)).toEqual([origin, null]);
      expect(await send(origin)).toEqual([origin, 'Accept-Encoding, Origin']);
    }
    for (const origin of ['https://evil.example', 'null', 'https://shop.example.evil', '']) {
      expect(await preflight(origin)).toEqual([null, null]);
      expect(await send(origin)).toEqual([null, 'Accept-Encoding, Origin']);
    }
  });

  it('allows any header from an allowed origin', async () => {
    await using service = await startGateway({ corsOrigins: ['https://shop.example'] });
    const preflight = async (origin: string, requested: string) => {
      const { status, headers } = await fetch(`${service.url}/graphql`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': requested,
        },
      });
      return [status, headers.get('access-control-allow-headers')];
    };
    const names = 'apollographql-client-name,authorization,baggage,content-type,sentry-trace';
    expect(await preflight('https://shop.example', names)).toEqual([204, names]);
    expect(await preflight('https://shop.example', 'a b; c')).toEqual([204, null]);
    expect(await preflight('https://evil.example', names)).toEqual([405, null]);
  });

  it('logs the origin of a refused preflight request, truncated', async () => {
    await using service = await startGateway({ corsOrigins: ['https://shop.example'] });
    const preflight = (origin: string) =>
      fetch(`${service.url}/graphql`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    await preflight('https://shop.example');
    await preflight('https://evil.example"\t\u009b');
    await preflight(`https://${'a'.repeat(2000)}`);
    const lines = service.lines.map((line) => JSON.parse(line));
    expect(lines.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'OPTIONS /graphql 204',
      'OPTIONS /graphql 405',
      'OPTIONS /graphql 405',
    ]);
    expect(lines.map(({ refusedOrigin }) => refusedOrigin)).toEqual([
      undefined,
      'https://evil.example"\t\u009b',
      `https://${'a'.repeat(262)}`,
    ]);
    expect(formatForTerminal(service.lines[1] ?? '')).toContain(
      'refusedOrigin=https://evil.example"\\u0009\\u009b',
    );
  });

  it('allows every port of an origin with a wildcard port', async () => {
    const corsOrigins = ['http://localhost:*', 'http://[::1]:*'];
    await using service = await startGateway({ corsOrigins });
    const allowed = async (origin: string) => {
      const { headers } = await fetch(`${service.url}/nothing-here`, { headers: { origin } });
      return headers.get('access-control-allow-origin');
    };
    for (const origin of ['http://localhost:5173', 'http://localhost', 'http://[::1]:3000']) {
      expect(await allowed(origin)).toBe(origin);
    }
    for (const origin of [
      'https://localhost:5173',
      'http://localhost.evil.example:5173',
      'http://evil.example:5173',
      'http://localhost:5173.evil.example',
    ]) {
      expect(await allowed(origin)).toBeNull();
    }
  });

  it('allows no cross-origin requests by default', async () => {
    await using service = await startGateway();
    const response = await fetch(`${service.url}/graphql?query={__typename}`, {
      headers: { origin: 'https://evil.example' },
    });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('finishes requests in flight before it closes', async () => {
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: {
        ...petStore,
        async listOrders() {
          enter();
          await released;
          return new JsonText('[]');
        },
      },
    });
    const pending = fetch(`${service.url}/v1/store/orders`, {
      headers: { authorization: 'Bearer demo-key' },
    });
    await entered;
    const closed = service.close(10_000);
    await vi.waitFor(() => expect(fetch(`${service.url}/livez`)).rejects.toThrow());
    release();
    expect((await pending).status).toBe(200);
    await closed;
  });

  it('closes connections whose requests do not finish within the grace period', async () => {
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: {
        ...petStore,
        listOrders() {
          enter();
          return new Promise(() => {});
        },
      },
    });
    const pending = fetch(`${service.url}/v1/store/orders`, {
      headers: { authorization: 'Bearer demo-key' },
    });
    const cut = expect(pending).rejects.toThrow();
    await entered;
    await service.close(10);
    await cut;
  });
});

describe('GraphiQL', () => {
  const asBrowser = { headers: { accept: 'text/html' } };

  it('is self-contained, with a tab per operation and the demo key', async () => {
    await using service = await startGateway({ graphiql: true, demoKey: 'demo-key' });
    const response = await fetch(`${service.url}/graphql`, asBrowser);
    expect(response.headers.get('content-type')).toMatch('text/html');
    const page = await response.text();
    expect(page).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//);
    for (const name of [
      'ListPets',
      'Storefront',
      'DeferredStorefront',
      'AddPet',
      'GetPet',
      'ListOrders',
      'SendMessage',
    ]) {
      expect(page).toMatch(new RegExp(`(?:query|mutation) ${name}\\b`));
    }
    expect(page).toContain('"apiKey":"demo-key"');
  });

  it('may run only its own scripts, and not be framed, sniffed or named in a Referer', async () => {
    await using service = await startGateway({ graphiql: true, demoKey: 'demo-key' });
    for (const coding of ['identity', 'br']) {
      const headers = { accept: 'text/html', 'accept-encoding': coding };
      const response = await fetch(`${service.url}/graphql`, { headers });
      const page = await response.text();
      const policy = response.headers.get('content-security-policy') ?? '';
      const scripts = [...page.matchAll(/<script>(.*?)<\/script>/gs)].map(
        ([, script = '']) => script,
      );
      expect(scripts).toHaveLength(4);
      const hashes = scripts.map((script) => `'sha256-${hash('sha256', script, 'base64')}'`);
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          `script-src ${hashes.join(' ')}`,
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  it('is replaced by a page with the same restrictions', async () => {
    const persistedDocuments = { mode: 'only', manifest: new Map() } as const;
    await using service = await startGateway({ graphiql: true, persistedDocuments });
    const { status, headers } = await fetch(`${service.url}/graphql`, asBrowser);
    expect(status).toBe(404);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none';.+frame-ancestors 'none'$/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('is smaller than 2.5 MB, and gets 304 when the browser has it', async () => {
    await using service = await startGateway({ graphiql: true, demoKey: 'demo-key' });
    const send = (method: string, coding: string, headers = {}) =>
      fetch(`${service.url}/graphql`, {
        method,
        headers: { accept: 'text/html', 'accept-encoding': coding, ...headers },
      });
    for (const coding of ['br', 'gzip']) {
      const head = await send('HEAD', coding);
      expect([head.status, head.headers.get('content-encoding')]).toEqual([200, coding]);
      expect(Number(head.headers.get('content-length'))).toBeLessThan(2_500_000);
      expect(head.headers.get('cache-control')).toBe('private, no-cache');
      expect(head.headers.get('vary')).toBe('Accept, Accept-Encoding');
      const known = await send('GET', coding, { 'if-none-match': head.headers.get('etag') });
      expect([known.status, await known.text()]).toEqual([304, '']);
    }
  });

  it('is not served when it is turned off', async () => {
    await using service = await startGateway({ graphiql: false });
    const response = await fetch(`${service.url}/graphql`, asBrowser);
    expect(response.headers.get('content-type') ?? '').not.toMatch('text/html');
  });
});

describe('introspection', () => {
  const introspect = (url: string) =>
    fetch(`${url}/graphql?query={__schema{queryType{name}}}`).then((response) => response.json());

  it('needs no key', async () => {
    await using service = await startGateway();
    expect(await introspect(service.url)).toEqual({
      data: { __schema: { queryType: { name: 'Query' } } },
    });
  });

  it('is refused when it is turned off', async () => {
    await using service = await startGateway({ introspection: false });
    expect(await introspect(service.url)).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
  });
});
