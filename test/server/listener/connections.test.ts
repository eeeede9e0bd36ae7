import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { JsonText } from '../../../src/contract/json.ts';
import { openBuiltin, startGateway } from '../../support/gateway.ts';
import { outlastHalfClose } from '../../support/half-close.ts';
import { refusalsIn } from '../../support/refusals.ts';

const json = 'Authorization: Bearer demo-key\r\nContent-Type: application/json\r\n';
const typename = '{"query":"{ __typename }"}';
const typenameResult = '{"data":{"__typename":"Query"}}';

function open({ url }: { readonly url: string }): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on('error', () => {});
}

/** Sends raw bytes. @returns everything received until the connection is closed. */
function send(service: { readonly url: string }, bytes: string): Promise<string> {
  const socket = open(service);
  socket.write(bytes);
  return text(socket);
}

function post(body: string, more = ''): string {
  return `POST /graphql HTTP/1.1\r\nHost: x\r\n${json}${more}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function chunkedPost(chunks: readonly string[], path = '/graphql', method = 'POST'): string {
  const lines = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${json}Transfer-Encoding: chunked\r\n\r\n${lines.join('')}0\r\n\r\n`;
}

const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

const statusesOf = (responses: string) =>
  [...responses.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

describe('a body in chunks', () => {
  it.each([
    ['/graphql', 'POST'],
    ['/livez', 'POST'],
    ['/v1/pets', 'POST'],
    ['/nowhere', 'POST'],
    ['/graphql?query={__typename}', 'GET'],
  ])('closes the connection when there are too many: %s %s', async (path, method) => {
    await using service = await startGateway();
    const responses = await send(
      service,
      chunkedPost(Array(20_000).fill(' '), path, method) + last,
    );
    expect(statusesOf(responses)).toHaveLength(1);
    expect(responses).toMatch(/^Connection: close\r$/im);
  });

  it('gets 413 when there are too many', async () => {
    await using service = await startGateway();
    const responses = await send(service, chunkedPost(Array(20_000).fill(' ')));
    expect(statusesOf(responses)).toEqual([413]);
    expect(responses).toContain('in too many chunks: expected at most 4096');
  });

  it('is accepted with a thousand small chunks', async () => {
    await using service = await startGateway();
    const padding = Array(1000).fill(' '.repeat(200));
    const responses = await send(service, chunkedPost([...typename, ...padding]) + last);
    expect(statusesOf(responses)).toEqual([200, 200]);
    expect(responses).toContain(typenameResult);
  });

  it('is complete between other requests, in chunks of any size', async () => {
    await using service = await startGateway();
    const bodies = [1, 7, 333, 4096, 20_000].map((size) => {
      const query = `{ ${'a: __typename '.repeat(2)} }${' '.repeat(30 * Math.min(size, 3000))}`;
      const body = JSON.stringify({ query });
      return body.match(new RegExp(`[^]{1,${Math.max(size, 25)}}`, 'g')) ?? [];
    });
    const requests = bodies.map((chunks) => chunkedPost(chunks) + post(typename));
    const responses = await send(service, requests.join('') + last);
    expect(statusesOf(responses)).toEqual(Array(11).fill(200));
    expect(responses.split('{"data":{"a":"Query"}}')).toHaveLength(6);
    expect(responses.split(typenameResult)).toHaveLength(6);
  });

  it('gets one response if it is malformed after many chunks', async () => {
    await using service = await startGateway();
    const body = chunkedPost(Array(3000).fill(' ')).replace(/0\r\n\r\n$/, 'nonsense\r\n');
    const responses = await send(service, post(typename) + body + last);
    expect(statusesOf(responses)).toEqual([200, 400]);
  });

  it('gets 400 if its client ends the connection before the body', async () => {
    await using service = await startGateway();
    for (const part of ['', '5\r\nab', '1\r\n{\r\n', '1\r\n \r\n'.repeat(2000)]) {
      const socket = open(service);
      socket.end(chunkedPost([]).replace('0\r\n\r\n', part));
      expect(statusesOf(await text(socket))).toEqual([400]);
    }
  });

  it('is refused together with the tunnel that it requests', async () => {
    await using service = await startGateway();
    const tunnel = chunkedPost([typename], 'localhost:22', 'CONNECT');
    expect(statusesOf(await send(service, tunnel))).toEqual([400]);
    expect(statusesOf(await send(service, post(typename) + tunnel))).toEqual([200, 400]);
    expect(statusesOf(await send(service, post(typename) + last))).toEqual([200, 200]);
  });

  it('gets 429 if those of its key hold too much unparsed input together', async () => {
    await using service = await startGateway();
    const flood = chunkedPost(Array(10_000).fill(' ')).replace('demo-key', 'greedy');
    const ended = Array.from({ length: 300 }, () => send(service, flood));
    const modest = chunkedPost([...typename, ...Array(1000).fill(' ')]) + last;
    expect(statusesOf(await send(service, modest))).toEqual([200, 200]);
    const responses = await Promise.all(ended);
    const statuses = responses.flatMap(statusesOf);
    expect(new Set(statuses)).toEqual(new Set([413, 429]));
    const limited = responses.filter((response) => statusesOf(response).includes(429));
    for (const response of limited) expect(response).toContain('"status":429,"retryAfterMs":1000');
    expect(await refusalsIn(service.metrics)).toEqual({
      'unparsed_bytes_of_key 429': statuses.filter((status) => status === 429).length,
    });
  }, 30_000);

  it('gets its response beside an offer of HTTP/2, as from Java', async () => {
    await using service = await startGateway();
    const offer = chunkedPost([typename]).replace(
      'Host: x',
      'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM10000',
    );
    const responses = await send(service, offer + post(typename) + offer + last);
    expect(statusesOf(responses)).toEqual([200, 200, 200, 200]);
    expect(responses.split(typenameResult)).toHaveLength(4);
  });

  it('is ignored with a GET', async () => {
    await using service = await startGateway();
    const get = chunkedPost(['ignored'], '/graphql?query={__typename}', 'GET');
    const responses = await send(service, get + last);
    expect(statusesOf(responses)).toEqual([200, 200]);
    expect(responses).toContain(typenameResult);
  });
});

describe('a body that is too large', () => {
  it('is read to its end up to 1 MiB, and the connection stays open', async () => {
    await using service = await startGateway();
    const responses = await send(service, post(' '.repeat(1024 * 1024)) + last);
    expect(statusesOf(responses)).toEqual([413, 200]);
  });

  it('closes the connection beyond that', async () => {
    await using service = await startGateway();
    const head = post('').replace('Content-Length: 0', 'Content-Length: 100000000');
    const responses = await send(service, head + ' '.repeat(1024 * 1024 + 1));
    expect(statusesOf(responses)).toEqual([413]);
  });
});

describe('a client that resets its connection before it is accepted', () => {
  it('causes no work', async () => {
    const petStore = await openBuiltin();
    const limits: (number | undefined)[] = [];
    await using service = await startGateway({
      petStore: {
        ...petStore,
        listPets: (call, query) => {
          limits.push(query.limit);
          return petStore.listPets(call, query);
        },
      },
    });
    const list = (limit: number) => post(`{"query":"{ pets(limit: ${limit}) { id } }"}`);
    const { port } = new URL(service.url);
    const client = `
      const socket = require('node:net').connect(${port}, '127.0.0.1');
      socket.write(${JSON.stringify(list(1))}, () => socket.resetAndDestroy());
    `;
    // Synchronous, so that the gateway accepts nothing while the client runs.
    execFileSync(process.execPath, ['-e', client]);
    expect(statusesOf(await send(service, list(2) + last))).toEqual([200, 200]);
    expect(limits).toEqual([2]);
  });
});

describe('a client that leaves', () => {
  it.each<[string, string, (socket: Socket) => void]>([
    ['', '', (socket) => socket.destroy()],
    [' if a request is queued behind its first', post(typename), (socket) => socket.destroy()],
    [' if it resets the connection', '', (socket) => socket.resetAndDestroy()],
    [' if it only ends its side of the connection', '', (socket) => socket.end()],
  ])('cancels its reads%s', async (_, queued, leave) => {
    const petStore = await openBuiltin();
    let calls = 0;
    let cancelled = 0;
    await using service = await startGateway({
      petStore: {
        ...petStore,
        listOrders: ({ signal }) => {
          calls++;
          signal?.addEventListener('abort', () => cancelled++);
          return new Promise(() => {});
        },
      },
    });
    const sockets = Array.from({ length: 20 }, () => open(service));
    for (const socket of sockets) socket.write(post('{"query":"{ orders }"}') + queued);
    await vi.waitFor(() => expect(calls).toBe(20));
    await outlastHalfClose();
    for (const socket of sockets) leave(socket);
    await vi.waitFor(() => expect(cancelled).toBe(20));
  });

  it.each([
    ['before its first request', ''],
    ['in the middle of a request', 'POST /graphql HTTP/1.1\r\nHost'],
    ['after its last response', post(typename)],
  ])('%s has its connection closed immediately', async (_, sent) => {
    await using service = await startGateway();
    const start = performance.now();
    const sockets = Array.from({ length: 20 }, () => open(service));
    await Promise.all(
      sockets.map(async (socket) => {
        socket.write(sent);
        if (sent.endsWith(typename)) await once(socket, 'data');
        else await once(socket, 'connect');
        await text(socket.end());
      }),
    );
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('a client that ends its side of the connection after its request', () => {
  it.each([
    ['gets its response', 1],
    ['gets the responses to all requests that it has sent', 40],
  ])('%s', async (_, count) => {
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: {
        ...petStore,
        listOrders: async () => {
          for (let turns = 0; turns < 20; turns++) await turn();
          return new JsonText('[]');
        },
      },
    });
    const socket = open(service);
    socket.end(post('{"query":"{ orders }"}').repeat(count));
    expect(statusesOf(await text(socket))).toEqual(Array(count).fill(200));
  });

  it('has its connection closed after a second without a response', async () => {
    const petStore = await openBuiltin();
    const called = Promise.withResolvers<void>();
    await using service = await startGateway({
      petStore: {
        ...petStore,
        listOrders: () => {
          called.resolve();
          return new Promise(() => {});
        },
      },
    });
    const socket = open(service);
    socket.write(post('{"query":"{ orders }"}'));
    await called.promise;
    expect(await text(socket.end())).toBe('');
  });

  it('gets its response if its body is in many chunks', async () => {
    await using service = await startGateway();
    const socket = open(service);
    socket.end(chunkedPost([...typename, ...Array(3000).fill(' ')]));
    expect(await text(socket)).toContain(typenameResult);
  });
});

describe('a request', () => {
  const get = (more: string) =>
    `GET /graphql?query={__typename} HTTP/1.1\r\nHost: x\r\n${json}${more}\r\n\r\n`;

  it.each([
    ['for an upgrade to WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket'],
    ['for an upgrade to HTTP/2', 'Connection: Upgrade\r\nUpgrade: h2c'],
    ['with an unknown expectation', 'Expect: nothing'],
  ])('%s gets its response, and so does the next one', async (_, headers) => {
    await using service = await startGateway();
    for (const before of ['', post(typename), chunkedPost([typename])]) {
      const responses = await send(
        service,
        before + get(headers).repeat(2) + post(typename) + last,
      );
      expect(new Set(statusesOf(responses))).toEqual(new Set([200]));
      expect(responses.split(typenameResult)).toHaveLength(before === '' ? 4 : 5);
    }
  });

  it('for a tunnel is refused, after the earlier responses', async () => {
    await using service = await startGateway();
    const tunnel = 'CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n';
    expect(statusesOf(await send(service, tunnel + post(typename)))).toEqual([400]);
    expect(statusesOf(await send(service, post(typename) + tunnel + last))).toEqual([200, 400]);
  });

  it('with `Expect: 100-continue` gets 100, and its response after its body', async () => {
    await using service = await startGateway();
    const socket = open(service);
    const head = post(typename, 'Expect: 100-continue\r\nConnection: close\r\n');
    socket.write(head.slice(0, -typename.length));
    expect(String(await once(socket, 'data'))).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(typename);
    expect(statusesOf(await text(socket))).toEqual([200]);
  });
});

describe('a request without a Host', () => {
  it('is refused, and nothing behind it runs', async () => {
    await using service = await startGateway();
    const pet = '{"name":"Ghost","categoryId":1}';
    const behind = `POST /v1/pets HTTP/1.1\r\nHost: x\r\n${json}Content-Length: ${pet.length}\r\n\r\n${pet}`;
    for (const head of [
      'GET / HTTP/1.1\r\n\r\n',
      `POST / HTTP/1.1\r\nContent-Length: ${behind.length}\r\n\r\n`,
    ]) {
      expect(statusesOf(await send(service, head + behind))).toEqual([400]);
    }
    const pets = await fetch(`${service.url}/v1/pets?limit=100`, {
      headers: { authorization: 'Bearer demo-key' },
    });
    expect(await pets.text()).not.toContain('Ghost');
  });
});

describe('pipelined requests', () => {
  it.each([
    'nonsense\r\n\r\n',
    'nonsense\r\n',
    'nonsense',
    'GET / HTTP/1.1\r\nHost : x\r\n',
    'GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n',
    '\0',
  ])('get their responses before malformed input after them: %j', async (malformed) => {
    await using service = await startGateway();
    for (const first of [post(typename), chunkedPost([typename]), post(typename).repeat(2)]) {
      const responses = await send(service, first + malformed);
      expect(statusesOf(responses).slice(0, -1)).toEqual(
        Array(first.split('POST').length - 1).fill(200),
      );
      expect(statusesOf(responses).at(-1)).toBe(400);
    }
  });

  it('get their responses before a malformed body after them', async () => {
    await using service = await startGateway();
    const bad = `POST /graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\nnonsense\r\n`;
    expect(statusesOf(await send(service, post(typename).repeat(2) + bad))).toEqual([
      200, 200, 400,
    ]);
    expect(statusesOf(await send(service, bad))).toEqual([400]);
  });

  it('get their responses before headers that are too long', async () => {
    await using service = await startGateway();
    const long = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(statusesOf(await send(service, post(typename) + long))).toEqual([200, 431]);
  });

  it('do not start while the client does not read the previous response', async () => {
    const petStore = await openBuiltin();
    let calls = 0;
    await using service = await startGateway({
      petStore: {
        ...petStore,
        listOrders: async () => {
          calls++;
          return new JsonText(JSON.stringify('x'.repeat(7_000_000)));
        },
      },
    });
    const get = `GET /graphql?query={orders} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo-key\r\n\r\n`;
    const socket = open(service);
    await once(socket, 'connect');
    socket.pause().write(get.repeat(2000) + last);
    await vi.waitFor(() => expect(calls).toBe(1));
    // Other connections get responses meanwhile.
    for (let others = 0; others < 20; others++) {
      expect((await fetch(`${service.url}/graphql?query={__typename}`)).status).toBe(200);
    }
    expect(calls).toBe(1);
    socket.destroy();
  });

  it('get their responses before and with an upgrade that is not made', async () => {
    await using service = await startGateway();
    const upgrade = post(typename, 'Connection: Upgrade\r\nUpgrade: h2c\r\n');
    const responses = await send(service, post(typename) + upgrade + last);
    expect(statusesOf(responses)).toEqual([200, 200, 200]);
    expect(responses.split(typenameResult)).toHaveLength(3);
    const ignored = post(typename, 'Upgrade: h2c\r\n');
    expect(statusesOf(await send(service, post(typename) + ignored + last))).toEqual([
      200, 200, 200,
    ]);
  });

  it('are parsed after many connections that were closed with unparsed input', async () => {
    await using service = await startGateway();
    const refused =
      chunkedPost(Array(4200).fill(' ')) + 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000);
    for (let count = 0; count < 150; count++) {
      const socket = open(service).resume();
      socket.write(refused.slice(0, 65_000));
      socket.write('x'.repeat(200_000));
      await once(socket, 'close');
    }
    const responses = await send(service, post(typename).repeat(3) + last);
    expect(statusesOf(responses)).toEqual([200, 200, 200, 200]);
  });

  it('close their connections when they hold too much unparsed input together', async () => {
    const held = Promise.withResolvers<void>();
    const petStore = await openBuiltin();
    await using service = await startGateway({
      petStore: { ...petStore, listOrders: () => held.promise.then(() => new JsonText('[]')) },
    });
    const orders = `GET /graphql?query={orders} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo-key\r\n\r\n`;
    let closed = 0;
    const sockets = Array.from({ length: 400 }, () => open(service).once('close', () => closed++));
    const bare = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2500);
    for (const socket of sockets) socket.resume().write(orders + bare);
    await vi.waitFor(() => expect(closed).toBeGreaterThan(300), { timeout: 10_000 });
    // The 4 MiB of a key are 64 reads of 64 KiB.
    expect(closed).toBeLessThan(345);
    const other = post(typename).replace('demo-key', 'another');
    const responses = await send(service, other.repeat(16) + last);
    expect(statusesOf(responses)).toHaveLength(17);
    held.resolve();
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(
      async () => {
        const responses = await send(service, post(typename).repeat(16) + last);
        expect(statusesOf(responses)).toHaveLength(17);
      },
      { timeout: 15_000 },
    );
  }, 30_000);
});

describe('a client that ends its side of the connection after a slow body', () => {
  it('gets its response', async () => {
    await using service = await startGateway();
    const socket = open(service);
    const request = post(typename);
    socket.write(request.slice(0, -5));
    await outlastHalfClose();
    socket.end(request.slice(-5));
    expect(statusesOf(await text(socket))).toEqual([200]);
  });
});
