import { once } from 'node:events';
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import * as http2 from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Connections } from '../../src/http/connections.ts';
import type { BodyParts } from '../../src/http/http-message.ts';
import { createNodeListener } from '../../src/http/node.ts';
import { createGateway, loadConfig } from '../../src/index.ts';
import { type GatewayRequest, openRequests } from '../../src/request/gateway-request.ts';
import { createEnvironment } from '../../src/request/scope.ts';
import { openTelemetry, quiet } from '../support/log.ts';
import { connectTo, rawGet, sendRaw } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { startUpstream } from '../support/upstream.ts';

const requests = openRequests(createEnvironment(quiet));

/** An endless body in parts of 1 MiB. */
function endlessParts() {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const part = 'x'.repeat(1024 * 1024);
  let produced = 0;
  const parts: BodyParts = {
    next: async () => ({ value: `${++produced} ${part}`, done: false }),
    return: async () => {
      finish();
      return { value: undefined, done: true };
    },
    end: finish,
    [Symbol.asyncIterator]: () => parts,
  };
  return {
    response: { status: 200, headers: {}, body: '', parts },
    finished,
    produced: () => produced,
  };
}

describe('a connection', () => {
  it.each([
    ['a response', () => ({ status: 200, headers: {}, body: 'x'.repeat(30_000_000) })],
    ['a response in parts', () => endlessParts().response],
  ])('is closed when its client leaves %s unread', async (_, respond) => {
    const connections = new Connections(1, undefined, 50);
    const handle = async () => respond();
    const http = createServer(createNodeListener({ ...requests, handle }, connections))
      .on('connection', (socket) => connections.add(socket))
      .on('timeout', connections.closeInactive);
    await using server = await startServer(http);
    const client = connectTo(server.url).pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [socket] = await once(http, 'connection');
    await vi.waitFor(() => expect(socket.closed).toBe(true));
    client.destroy();
  });
});

describe('a body in parts', () => {
  it('is produced only as fast as the client reads, and cancelled when it disconnects', async () => {
    const { response, finished, produced } = endlessParts();
    const handle = async () => response;
    await using server = await startServer(
      createServer(createNodeListener({ ...requests, handle })),
    );
    const client = connectTo(server.url).pause();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(0));
    for (let turns = 0; turns < 200; turns++) await turn();
    const unread = produced();
    expect(unread).toBeLessThan(50);
    client.resume();
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(unread + 50));
    client.destroy();
    await finished;
  });

  it('is cancelled when its client leaves over HTTP/2', async () => {
    const { response, finished, produced } = endlessParts();
    const received: GatewayRequest[] = [];
    const handle = async (request: GatewayRequest) => {
      received.push(request);
      return response;
    };
    const listener = createNodeListener({ ...requests, handle });
    // Node calls requests of HTTP/2 compatible with those of HTTP/1.1; their types differ.
    await using server = await startServer(http2.createServer(listener as never));
    const session = http2.connect(server.url);
    session
      .request({ ':path': '/' })
      .on('error', () => {})
      .pause();
    await vi.waitFor(() => expect(produced()).toBeGreaterThan(0));
    session.destroy();
    await finished;
    expect(received[0]?.scope.cancelled).toBeDefined();
  });
});

describe('nodeListener', () => {
  it('settles when the response has closed, also if its client has left', async () => {
    const received = Promise.withResolvers<ServerResponse>();
    await using upstream = await startUpstream((_, response) => received.resolve(response));
    await using gateway = await createGateway(
      loadConfig({ PETSTORE_BASE_URL: `${upstream.url}/v1`, LOG_LEVEL: 'silent' }),
    );
    const calls: [IncomingMessage, ServerResponse, Promise<void>][] = [];
    await using server = await startServer(
      createServer((incoming, outgoing) => {
        calls.push([incoming, outgoing, gateway.nodeListener(incoming, outgoing)]);
      }),
    );
    await sendRaw(server.url, rawGet('/graphql?query={__typename}', 'Connection: close\r\n'));
    const client = connectTo(server.url);
    client.write(rawGet('/graphql?query={orders}', 'Authorization: Bearer key\r\n'));
    await received.promise;
    client.destroy();
    for (const [incoming, outgoing, settled] of calls) {
      await settled;
      expect(outgoing.closed).toBe(true);
      await gateway.nodeListener(incoming, outgoing);
    }
    expect(calls.map(([, { writableFinished }]) => writableFinished)).toEqual([true, false]);
  });
});

describe('in a host with its own response object', () => {
  const config = loadConfig({ DATABASE_URL: ':memory:' });
  const deferred = '{ pets(limit: 1) { id } ... @defer { orders } }';
  const bodies = {
    whole: JSON.stringify({ query: '{ pets(limit: 1) { id } }' }),
    'in parts': JSON.stringify({ query: deferred }),
    refused: 'x'.repeat(300_000),
  };

  /** Sends a body to a mounted gateway, whose host replaces these methods of each response. */
  async function send(body: string, methods: object, log = openTelemetry()) {
    await using gateway = await createGateway(config, log.log);
    await using server = await startServer(
      createServer((incoming, outgoing) =>
        gateway.nodeListener(incoming, Object.assign(outgoing, methods)),
      ),
    );
    const headers = {
      authorization: 'Bearer demo-key',
      'content-type': 'application/json',
      accept: body === bodies['in parts'] ? 'multipart/mixed' : 'application/json',
    };
    const received = await fetch(server.url, { method: 'POST', headers, body }).then(
      async (response) => `${response.status} ${await response.text()}`,
      ({ cause }) => cause.code,
    );
    return { received, logged: log.logged.map((line) => JSON.parse(line)) };
  }

  const { writeHead } = ServerResponse.prototype;
  /** As in serverless-http and Restify. */
  const returningNothing = {
    writeHead(this: ServerResponse, ...head: Parameters<typeof writeHead>) {
      writeHead.apply(this, head);
    },
  };

  it.each([
    ['whole', /^200 \{"data":\{"pets":\[\{"id":"1"\}\]\}\}$/],
    ['in parts', /^200 .*"hasNext":true.*"hasNext":false.*---/s],
    ['refused', /^413 .*"BODY_TOO_LARGE"/],
  ] as const)('sends a response that is %s, though writeHead returns nothing', async (kind, expected) => {
    const { received, logged } = await send(bodies[kind], returningNothing);
    expect([received, logged]).toEqual([expect.stringMatching(expected), []]);
  });

  const fail = () => {
    throw new Error('The host fails.');
  };
  const failing = { level: 'error', err: { message: 'The host fails.' } };
  let isFirst = true;
  const failingOnce = {
    writeHead(this: ServerResponse, ...head: Parameters<typeof writeHead>) {
      if (!isFirst) return writeHead.apply(this, head);
      isFirst = false;
      return fail();
    },
  };

  describe.each(
    Object.entries(bodies),
  )('logs what fails while a response is written: %s', (_, body) => {
    it.each([
      ['and responds with 500', failingOnce, /^500 .*"internal_server_error"/],
      [
        'and closes the connection if nothing can be written',
        { writeHead: fail },
        /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/,
      ],
    ] as const)('%s', async (_title, methods, expected) => {
      isFirst = true;
      const { received, logged } = await send(body, methods);
      expect(received).toMatch(expected);
      expect(logged).toMatchObject([failing]);
    });
  });

  it('closes the connection, and logs why, if a response fails after its head', async () => {
    const { received, logged } = await send(bodies.whole, { end: fail });
    expect([received, logged]).toMatchObject(['UND_ERR_SOCKET', [failing]]);
  });

  it('responds with 500 if the request cannot be logged', async () => {
    const log = openTelemetry();
    Object.assign(log.log, { request: fail, error: fail });
    const { received } = await send(bodies.whole, {}, log);
    expect(received).toMatch(/^500 /);
  });
});
