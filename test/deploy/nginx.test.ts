import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { describe, expect } from 'vitest';
import { apiKey, callWith, startGateway } from '../support/gateway.ts';
import { nginxTest, startNginx } from '../support/nginx.ts';
import { petsFirst, readParts, startHolding } from '../support/parts.ts';
import { rawGet, sendRaw, statusesOf } from '../support/raw-http.ts';

const run = promisify(execFile);

/** The head and the JSON of a response, received whole. */
async function exchange(socketPath: string, bytes: string) {
  const response = await sendRaw(`http://unix:${socketPath}:`, bytes);
  const [head = '', body = ''] = response.split('\r\n\r\n');
  return { status: statusesOf(response)[0], head: head.toLowerCase(), body: JSON.parse(body) };
}

describe('deploy/nginx.conf', () => {
  const close = 'Connection: close\r\n';
  const long = 'x'.repeat(20_000);
  const json = 'Content-Type: application/json\r\n';
  const withBody = (body: string) => `${close}${json}Content-Length: ${body.length}\r\n\r\n${body}`;

  nginxTest('accepts requests without a Host, and with as much as the gateway', async () => {
    await using service = await startGateway();
    await using nginx = await startNginx([service.url]);
    const { socketPath } = nginx;
    const query = '/graphql?query={__typename}';
    const whole = `{"query":"{__typename}${' '.repeat(262_144 - 24)}"}`;
    const authorization = `Authorization: Bearer ${apiKey}\r\n`;
    for (const request of [
      `GET ${query} HTTP/1.0\r\n\r\n`,
      `GET ${query} HTTP/1.1\r\nHost: localhost:8080\r\n${close}\r\n`,
      rawGet(query, `${close}X-Long: ${long.slice(0, 14_000)}\r\n`),
      rawGet(`${query}&operationName=&long=${long.slice(0, 14_000)}`, close),
      `POST /graphql HTTP/1.1\r\nHost: a\r\n${authorization}${withBody(whole)}`,
    ]) {
      const { status, body } = await exchange(socketPath, request);
      expect([status, body], request.slice(0, 80)).toEqual([
        200,
        { data: { __typename: 'Query' } },
      ]);
    }
  });

  nginxTest('responds itself with JSON that pages of the configured origins can read', async () => {
    const gone = await startGateway();
    await gone[Symbol.asyncDispose]();
    const origin = 'https://shop.example';
    await using nginx = await startNginx([gone.url], (config) =>
      config.replace(`# ${origin}`, origin),
    );
    const { socketPath } = nginx;
    const id = 'X-Request-Id: checkout-42\r\n';
    const refused: readonly (readonly [request: string, status: number, code: string])[] = [
      [rawGet('/graphql', close), 502, 'UPSTREAM_UNAVAILABLE'],
      ['GET /graphql HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
      ['GET /graphql HTTP/1.1\r\nHost: a b\r\n\r\n', 400, 'BAD_REQUEST'],
      ['TRACE /graphql HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'BAD_REQUEST'],
      [
        `POST /graphql HTTP/1.1\r\nHost: a\r\n${withBody(' '.repeat(262_145))}`,
        413,
        'BODY_TOO_LARGE',
      ],
      [rawGet('/graphql', `X-Long: ${long}\r\n`), 431, 'BAD_REQUEST'],
      ['POST /graphql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n', 501, 'BAD_REQUEST'],
    ];
    for (const [request, status, code] of refused) {
      const sent = request.replace('\r\n', `\r\nOrigin: ${origin}\r\n${id}`);
      const response = await exchange(socketPath, sent);
      expect(response, request.slice(0, 80)).toMatchObject({ status });
      expect(response.head).toContain('\r\ncontent-type: application/json\r\n');
      expect(response.head).toContain('\r\nx-request-id: checkout-42\r\n');
      expect(response.head).toContain(`\r\naccess-control-allow-origin: ${origin}\r\n`);
      expect(response.body.errors[0].extensions).toEqual({ code, requestId: 'checkout-42' });
      const other = await exchange(socketPath, sent.replaceAll(origin, 'https://evil.example'));
      expect(other.head).not.toContain('access-control-allow-origin');
    }
    const rest = await exchange(socketPath, rawGet('/v1/pets', close));
    const message = 'No gateway responded. The outcome of a write is unknown.';
    expect(rest.body).toEqual({ code: 'unavailable', message, status: 502 });
    // nginx reads neither the path nor headers of a request whose URL is too long.
    const { body } = await exchange(socketPath, rawGet(`/graphql?${long}`));
    expect(body).toEqual({ code: 'bad_request', message: 'The URL is too long.', status: 414 });
    expect((await exchange(socketPath, rawGet('/own-response', close))).status).toBe(404);
    // Anything else would be no JSON.
    const quoted = await exchange(socketPath, rawGet('/graphql', `${close}X-Request-Id: a"b\r\n`));
    expect(quoted.body.errors[0].extensions.requestId).toMatch(/^[0-9a-f]{32}$/);
  });

  nginxTest('forwards each part immediately', async () => {
    await using service = await startHolding();
    await using nginx = await startNginx([service.url]);
    const agent = new Agent({ connect: { socketPath: nginx.socketPath } });
    await using stack = new AsyncDisposableStack();
    stack.defer(() => agent.destroy());
    const { headers, body } = await agent.request({
      origin: 'http://gateway.test',
      path: '/graphql',
      method: 'POST',
      headers: {
        authorization: 'Bearer demo-key',
        'content-type': 'application/json',
        accept: 'multipart/mixed',
        'accept-encoding': 'gzip',
      },
      body: JSON.stringify({ query: petsFirst }),
    });
    expect(headers['content-encoding']).toBeUndefined();
    const response = new Response(Readable.toWeb(body) as ReadableStream, {
      headers: { 'content-type': String(headers['content-type']) },
    });
    const parts = readParts(response);
    expect((await parts.next()).value).toMatchObject({ data: { pets: [{ id: '1' }] } });
    service.release();
    expect((await parts.next()).value).toMatchObject({ hasNext: false });
    expect((await parts.next()).done).toBe(true);
  });

  nginxTest('compresses whole results from 4 KiB', async () => {
    await using service = await startGateway();
    for (let index = 0; index < 100; index++) {
      await service.petStore.createPet(callWith(), {
        name: `Biscuit ${index}`,
        categoryId: '1',
        status: 'available',
      });
    }
    await using nginx = await startNginx([service.url]);
    /** Returns the headers and the decoded body, as curl receives them. */
    async function post(limit: number, ...options: string[]) {
      const query = `{ pets(limit: ${limit}) { id name categoryId status } }`;
      const sent = [
        '-H',
        `authorization: Bearer ${apiKey}`,
        '-H',
        'content-type: application/json',
      ];
      const data = ['-d', JSON.stringify({ query })];
      const to = ['--unix-socket', nginx.socketPath, 'http://gateway.test/graphql'];
      const { stdout } = await run('curl', ['-sSi', ...options, ...sent, ...data, ...to]);
      const [head = '', body = ''] = stdout.split('\r\n\r\n');
      return { head: head.toLowerCase(), body };
    }
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const whole = await post(100, '-H', `accept: ${accept}`);
      const compressed = await post(100, '--compressed', '-H', `accept: ${accept}`);
      expect(whole.head).not.toContain('content-encoding');
      expect(compressed.head).toContain('content-encoding: gzip');
      expect(compressed.head).toContain('vary: accept-encoding');
      expect(compressed.body).toBe(whole.body);
      expect(whole.body.length).toBeGreaterThan(4096);
    }
    expect((await post(5, '--compressed')).head).not.toContain('content-encoding');
  });
});
