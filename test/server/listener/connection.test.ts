import { once } from 'node:events';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createByteLimits } from '../../../src/server/byte-limits.ts';
import { Connection } from '../../../src/server/listener/connection.ts';
import { quiet } from '../../support/log.ts';
import { connectTo, rawGet as get } from '../../support/raw-http.ts';
import { startServer } from '../../support/server.ts';
import { countTurns } from '../../support/turns.ts';

type Respond = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Starts an HTTP server whose connections are passed on as by the gateway's listener. */
async function startListener(respond: Respond, onSocket = (_: Socket) => {}) {
  const limits = createByteLimits(quiet.metrics);
  const sockets = new Set<Socket>();
  const connections: Connection[] = [];
  const http = new Server((incoming, outgoing) => {
    const connection = incoming.socket as unknown as Connection;
    connection.start(outgoing);
    outgoing.on('close', () => connection.finish());
    respond(incoming, outgoing);
  });
  const tcp = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    const connection = new Connection(socket, limits);
    http.emit('connection', connection);
    connections.push(connection);
    onSocket(socket);
  });
  const server = await startServer(tcp);
  return {
    ...server,
    open: () => connectTo(server.url),
    /** Checks the deadline of the first connection as it is after `ms`. Returns whether it is open. */
    isOpenAfter(ms: number) {
      const [connection] = connections as [Connection];
      connection.checkDeadline(performance.now() + ms);
      return !connection.destroyed;
    },
    /** Ends the idle time of the first connection as a server that closes does. */
    closeIfIdle: (ms: number) => connections[0]?.closeIfIdle(ms),
    /** The bytes that were received on all connections. */
    bytesRead: () => sockets.values().reduce((sum, { bytesRead }) => sum + bytesRead, 0),
  };
}

/** Starts a server that responds with the path and the body, and counts requests. */
async function startEcho() {
  const counts = { requests: 0, mostInFlight: 0 };
  const inFlight = new Map<object, number>();
  const server = await startListener(async (incoming, outgoing) => {
    const { socket } = incoming;
    const add = (count: number) => {
      const ofSocket = (inFlight.get(socket) ?? 0) + count;
      inFlight.set(socket, ofSocket);
      counts.mostInFlight = Math.max(counts.mostInFlight, ofSocket);
    };
    counts.requests++;
    add(1);
    outgoing.on('finish', () => add(-1));
    const body = await text(incoming);
    await turn();
    outgoing.end(`<${incoming.url} ${body} ${JSON.stringify(incoming.trailers)}>`);
  });
  return { ...server, counts };
}

const last = get('/last', 'Connection: close\r\n');
const post = (path: string, headers: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;

/** Requests, each with the response of the server above. */
const kinds = {
  'without a body': [get('/get'), '</get  {}>'],
  'with a body of known length': [
    post('/length', 'Content-Length: 4', 'body'),
    '</length body {}>',
  ],
  'with a body that contains blank lines': [
    post('/blank', 'Content-Length: 15', 'a\r\n\r\nb\r\n\r\nGET /'),
    '</blank a\r\n\r\nb\r\n\r\nGET / {}>',
  ],
  'with a body in chunks': [
    post('/chunks', 'Transfer-Encoding: chunked', '3\r\nbod\r\n1\r\ny\r\n0\r\n\r\n'),
    '</chunks body {}>',
  ],
  'with chunks that contain blank lines': [
    post(
      '/blanks',
      'Transfer-Encoding: chunked',
      '8\r\n\r\n\r\n\r\n\r\n\r\n4\r\n0\r\n\r\r\n0\r\n\r\n',
    ),
    '</blanks \r\n\r\n\r\n\r\n0\r\n\r {}>',
  ],
  'with trailers': [
    post('/trailers', 'Transfer-Encoding: chunked', '4\r\nbody\r\n0\r\nA: 1\r\nB: 2\r\n\r\n'),
    '</trailers body {"a":"1","b":"2"}>',
  ],
} as const;

const responsesIn = (received: string) => received.match(/<[^>]*>/g);

describe('pipelined requests', () => {
  it.each(Object.entries(kinds))('%s start one after the other', async (_, [sent, response]) => {
    await using server = await startEcho();
    const socket = server.open();
    socket.write(sent.repeat(20) + last);
    expect(responsesIn(await text(socket))).toEqual([...Array(20).fill(response), '</last  {}>']);
    expect(server.counts.mostInFlight).toBe(1);
  });

  it.each(Object.entries(kinds))('%s may be split anywhere', async (_, [sent, response]) => {
    await using server = await startEcho();
    const first = get('/first');
    const requests = sent + sent + last;
    const responses = await Promise.all(
      Array.from({ length: 2 * sent.length }, async (_, end) => {
        const socket = server.open().setNoDelay();
        socket.write(first + requests.slice(0, end + 1));
        await once(socket, 'data');
        socket.write(requests.slice(end + 1));
        return responsesIn(await text(socket));
      }),
    );
    for (const received of responses) {
      expect(received?.slice(-3)).toEqual([response, response, '</last  {}>']);
    }
    expect(server.counts.mostInFlight).toBe(1);
  });

  it.each(
    Object.entries(kinds),
  )('%s are not parsed before the response to the first one', async (_, [sent, response]) => {
    const held: ServerResponse[] = [];
    await using server = await startListener(async (incoming, outgoing) => {
      const body = await text(incoming);
      held.push(outgoing);
      outgoing.write(`<${incoming.url} ${body} ${JSON.stringify(incoming.trailers)}>`);
    });
    const socket = server.open();
    const received = text(socket);
    socket.write(sent.repeat(2) + last);
    for (let request = 1; request <= 3; request++) {
      await vi.waitFor(() => expect(held).toHaveLength(request), { interval: 5 });
      // Another connection gets its response meanwhile.
      const other = server.open();
      other.write(get('/other', 'Connection: close\r\n'));
      await vi.waitFor(() => expect(held).toHaveLength(request + 1), { interval: 5 });
      held.pop()?.end();
      expect(await text(other)).toContain('/other');
      expect(held).toHaveLength(request);
      held.at(-1)?.end();
    }
    expect(responsesIn(await received)).toEqual([response, response, '</last  {}>']);
  });
});

describe('bodies in chunks', () => {
  it('are parsed one slice per turn of the event loop', async () => {
    using counted = countTurns();
    const chunksPerTurn = new Map<number, number>();
    await using server = await startListener((incoming, outgoing) => {
      let size = 0;
      incoming.on('data', ({ length }: Buffer) => {
        size += length;
        chunksPerTurn.set(counted.turns, (chunksPerTurn.get(counted.turns) ?? 0) + 1);
      });
      incoming.on('end', () => outgoing.end(`received ${size}`));
    });
    const headers = 'Connection: close\r\nTransfer-Encoding: chunked';
    const body = post('/', headers, `${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`);
    const sockets = Array.from({ length: 20 }, () => server.open());
    const responses = sockets.map(async (socket) => {
      socket.write(body);
      return text(socket);
    });
    for (const response of await Promise.all(responses)) {
      expect(response).toContain('received 10000');
    }
    const total = chunksPerTurn.values().reduce((sum, chunks) => sum + chunks, 0);
    expect(total).toBe(200_000);
    // A slice of 2 KiB has 341, and the first KiB of another body 170.
    expect(Math.max(...chunksPerTurn.values())).toBeLessThan(1500);
  });
});

describe('the deadline of a connection', () => {
  it('is 10 s for headers, and 15 s for the request', async () => {
    let requests = 0;
    await using server = await startListener(() => requests++);
    const socket = server.open();
    socket.write('GET / HTTP/1.1');
    await vi.waitFor(() => expect(server.bytesRead()).toBe(14));
    expect(server.isOpenAfter(9900)).toBe(true);
    socket.write('\r\nHost: x\r\nContent-Length: 4\r\n\r\n');
    await vi.waitFor(() => expect(requests).toBe(1));
    expect(server.isOpenAfter(14_800)).toBe(true);
    server.isOpenAfter(15_001);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is 75 s while it is idle, or the time that a closing server gives it', async () => {
    await using server = await startEcho();
    const socket = server.open();
    socket.write(get('/'));
    await once(socket, 'data');
    expect(server.isOpenAfter(74_000)).toBe(true);
    server.closeIfIdle(3000);
    expect(server.isOpenAfter(2900)).toBe(true);
    // A request that ends while the server closes begins the shorter time.
    socket.write(get('/'));
    await once(socket, 'data');
    expect(server.isOpenAfter(2900)).toBe(true);
    expect(server.isOpenAfter(3001)).toBe(false);
  });

  it('is one second after its client has ended it, unless the response has begun', async () => {
    for (const hasBegun of [false, true]) {
      const responses: ServerResponse[] = [];
      await using server = await startListener((_, outgoing) => responses.push(outgoing));
      const socket = server.open();
      socket.end(get('/'));
      await vi.waitFor(() => expect(responses).toHaveLength(1));
      if (hasBegun) responses[0]?.write('begun');
      expect(server.isOpenAfter(900)).toBe(true);
      expect(server.isOpenAfter(1001)).toBe(hasBegun);
      socket.destroy();
    }
  });

  it('is five minutes for reading a response, however slowly it is read', async () => {
    const bytes = Buffer.alloc(64 * 1024 * 1024);
    const sockets: Socket[] = [];
    await using server = await startListener(
      (_, outgoing) => outgoing.end(bytes),
      (socket) => sockets.push(socket),
    );
    const socket = server.open().pause();
    socket.write(get('/'));
    await vi.waitFor(() => expect(sockets[0]?.writableLength).toBeGreaterThan(0));
    expect(server.isOpenAfter(299_000)).toBe(true);
    expect(server.isOpenAfter(300_001)).toBe(false);
    socket.destroy();
  });
});

describe('a client', () => {
  it('that expects 100 Continue sends its body after it, also behind another request', async () => {
    await using server = await startEcho();
    const socket = server.open();
    const received = text(socket.pause());
    const headers = 'Content-Length: 4\r\nExpect: 100-continue';
    for (let count = 1; count <= 2; count++) {
      socket.write(get('/first') + post('/second', headers, ''));
      await vi.waitFor(() => expect(server.counts.requests).toBe(2 * count));
      socket.write('body');
    }
    socket.write(last);
    const [, ...parts] = (await received).split('HTTP/1.1 100 Continue\r\n\r\n');
    expect(parts.map(responsesIn)).toEqual([
      ['</second body {}>', '</first  {}>'],
      ['</second body {}>', '</last  {}>'],
    ]);
  });

  it('that reads slowly is not cut off, and one that reads nothing is', async () => {
    const limitMs = 500;
    const bytes = Buffer.alloc(64 * 1024 * 1024);
    const closedAfter: number[] = [];
    await using server = await startListener(
      (_, outgoing) => outgoing.end(bytes),
      (socket) => {
        const start = performance.now();
        socket.setTimeout(limitMs).on('close', () => closedAfter.push(performance.now() - start));
      },
    );
    const [idle, slow] = [server.open().pause(), server.open()];
    for (const socket of [idle, slow]) socket.write(get('/'));
    let received = 0;
    slow.on('data', ({ length }) => {
      received += length;
      slow.pause();
    });
    const reading = setInterval(() => slow.resume(), 4);
    await vi.waitFor(() => expect(closedAfter).toHaveLength(1), { timeout: 5000 });
    expect(closedAfter[0]).toBeGreaterThan(limitMs);
    const start = performance.now();
    await vi.waitFor(() => expect(performance.now() - start).toBeGreaterThan(3 * limitMs), 5000);
    expect(closedAfter).toHaveLength(1);
    expect(received).toBeLessThan(bytes.length);
    clearInterval(reading);
    for (const socket of [idle, slow]) socket.destroy();
  });
});
