import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { listen } from '../../src/http/listen.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { openBuiltin, openGateway, startGateway } from '../support/gateway.ts';
import { holdingOrders } from '../support/parts.ts';
import { nodeStart } from '../support/process.ts';
import { connectTo, lastProbe, rawGet, rawPost, sendRaw, statusesOf } from '../support/raw-http.ts';

const typename = '{"query":"{ __typename }"}';
const orders = '{"query":"{ orders }"}';

function chunkedPost(chunks: readonly string[], path = '/graphql', method = 'POST'): string {
  const lines = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const [head] = rawPost('').split('Content-Length', 1);
  return `${head}Transfer-Encoding: chunked\r\n\r\n${lines.join('')}0\r\n\r\n`.replace(
    'POST /graphql',
    `${method} ${path}`,
  );
}

/** The gateway of the tests that hold no calls. */
const service = disposeAfterAll(await startGateway());

/** Sends requests one after the other over one connection. @returns the status of each response. */
async function sendInTurn(url: string, requests: readonly string[]): Promise<number[]> {
  const socket = connectTo(url);
  const statuses: number[] = [];
  for (const request of requests) {
    socket.write(request);
    const [response] = await once(socket, 'data');
    statuses.push(...statusesOf(String(response)));
  }
  socket.destroy();
  return statuses;
}

describe('a body in chunks', () => {
  it.each([
    ['/graphql', 'POST'],
    ['/v1/pets', 'POST'],
  ])('closes the connection when there are too many: %s %s', async (path, method) => {
    for (const [chunk, statuses] of [
      [' ', []],
      [' '.repeat(100), [413]],
    ] as const) {
      const socket = connectTo(service.url);
      socket.write(chunkedPost(Array(20_000).fill(chunk), path, method) + lastProbe);
      let responses = '';
      socket.setEncoding('latin1').on('data', (received) => {
        responses += received;
      });
      await vi.waitFor(() => expect(socket.closed).toBe(true));
      expect(statusesOf(responses)).toEqual(statuses);
    }
  });

  it('gets 400 if it is malformed, or if its client ends the connection before it', async () => {
    for (const part of ['nonsense\r\n', '', '5\r\nab', '1\r\n{\r\n', '1\r\n \r\n'.repeat(2000)]) {
      const socket = connectTo(service.url);
      socket.end(chunkedPost([]).replace('0\r\n\r\n', part));
      expect(statusesOf(await text(socket))).toEqual([400]);
    }
  });
});

describe('a request', () => {
  const upgrade = (protocol: string) => `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
  const offer = `${upgrade('h2c')}HTTP2-Settings: AAM10000\r\n`;

  it.each([
    ['that offers WebSocket', rawGet('/livez', upgrade('websocket'))],
    [
      'that offers HTTP/2 with a body in chunks, as from Java',
      chunkedPost([typename]).replace('Transfer-', `${offer}Transfer-`),
    ],
    ['with an unknown expectation', rawGet('/livez', 'Expect: nothing\r\n')],
  ])('%s gets its response, and so does the next one', async (_, request) => {
    expect(await sendInTurn(service.url, [request, request, rawPost(typename)])).toEqual([
      200, 200, 200,
    ]);
  });

  it.each([
    ['without a Host', 400, 'GET / HTTP/1.1\r\n\r\n'],
    [
      'with two Hosts',
      400,
      rawGet('/graphql?query={__typename}', 'Host: other\r\nConnection: close\r\n'),
    ],
    ['with headers that are too long', 431, rawGet('/', `X-Long: ${'x'.repeat(20_000)}\r\n`)],
    ['that is not HTTP', 400, '\x16\x03\x01'],
    ['without a version', 505, rawPost(typename).replace(' HTTP/1.1', '')],
    ['without a version, of a probe', 505, rawGet('/livez').replace(' HTTP/1.1', '')],
    ['of HTTP/2 in the syntax of HTTP/1.1', 505, rawPost(typename).replace('1.1', '2.0')],
  ])('%s is refused', async (_, status, request) => {
    expect(statusesOf(await sendRaw(service.url, request))).toEqual([status]);
  });

  it('for a tunnel gets no response, and closes the connection', async () => {
    expect(
      await sendRaw(service.url, 'CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ).toBe('');
  });
});

describe('a client that leaves', () => {
  it.each([
    ['before its first request', ''],
    ['in the middle of a request', 'POST /graphql HTTP/1.1\r\nHost'],
    ['after its last response', rawPost(typename)],
  ])('%s has its connection closed immediately', async (_, sent) => {
    const staying = connectTo(service.url).resume();
    staying.write(sent);
    const sockets = Array.from({ length: 20 }, () => connectTo(service.url));
    await Promise.all(
      sockets.map(async (socket) => {
        socket.write(sent);
        if (sent.endsWith(typename)) await once(socket, 'data');
        else await once(socket, 'connect');
        await text(socket.end());
      }),
    );
    expect(staying.closed).toBe(false);
    staying.destroy();
  });
});

describe('an idle connection', () => {
  it('is kept for KEEP_ALIVE_TIMEOUT_MS, which the response names, and then closed', async () => {
    const start = (KEEP_ALIVE_TIMEOUT_MS: string) =>
      nodeStart({ DATABASE_URL: ':memory:', KEEP_ALIVE_TIMEOUT_MS });
    await using shorter = await start('1000');
    await using longer = await start('3610000');
    const [closed, kept] = [shorter, longer].map(({ url }) => connectTo(url));
    for (const socket of [closed, kept]) socket?.write(rawGet('/livez'));
    expect(String(await once(closed as Socket, 'data'))).toContain('Keep-Alive: timeout=1\r\n');
    expect(String(await once(kept as Socket, 'data'))).toContain('Keep-Alive: timeout=3610\r\n');
    await once(closed as Socket, 'close');
    expect(kept?.closed).toBe(false);
    kept?.destroy();
  });

  it('makes room for a new one, rather than one whose request is arriving', async () => {
    await using gateway = await openGateway();
    const address = { host: '127.0.0.1', port: 0, maxConnections: 2 };
    const { url, close } = await listen(gateway, address);
    await using _ = { [Symbol.asyncDispose]: () => close(0) };
    const arriving = connectTo(url);
    const response = text(arriving);
    arriving.write(lastProbe.slice(0, -1));
    const idle = connectTo(url);
    const closed = once(idle, 'close');
    idle.write(rawGet('/livez'));
    await once(idle.resume(), 'data');
    expect(statusesOf(await sendRaw(url, lastProbe))).toEqual([200]);
    await closed;
    arriving.write(lastProbe.slice(-1));
    expect(statusesOf(await response)).toEqual([200]);
  });
});

describe('pipelined requests', () => {
  it('get their responses in order, up to eight', async () => {
    const requests = Array.from({ length: 7 }, (_, n) =>
      rawPost(`{"query":"{ a${n}: __typename }"}`),
    );
    const responses = await sendRaw(service.url, requests.join('') + lastProbe);
    expect(responses.match(/"a\d"/g)).toEqual([
      '"a0"',
      '"a1"',
      '"a2"',
      '"a3"',
      '"a4"',
      '"a5"',
      '"a6"',
    ]);
    expect(statusesOf(responses)).toHaveLength(8);
  });

  it('close their connection when eight are unanswered, and start no more', async () => {
    const { petStore, calls, cancelled } = holdingOrders(await openBuiltin());
    await using service = await startGateway({ petStore });
    const socket = connectTo(service.url);
    socket.write(rawPost(orders).repeat(8));
    await vi.waitFor(() => expect(calls()).toBe(8));
    expect(socket.closed).toBe(false);
    socket.resume().write(rawPost(orders).repeat(1000));
    await vi.waitFor(() => expect(cancelled()).toBe(8));
    expect(calls()).toBe(8);
    await vi.waitFor(() => expect(socket.closed).toBe(true));
  });
});
