import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type EventEmitter, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { JsonText } from '../../../src/contract/json.ts';
import { openBuiltin, startGateway } from '../../support/gateway.ts';
import { outlastHalfClose } from '../../support/half-close.ts';
import { holdingOrders } from '../../support/parts.ts';
import {
  connectTo,
  lastProbe,
  rawGet,
  rawPost,
  sendRaw,
  statusesOf,
} from '../../support/raw-http.ts';
import { recording } from '../../support/recording.ts';

const typename = '{"query":"{ __typename }"}';
const typenameResult = '{"data":{"__typename":"Query"}}';
const orders = '{"query":"{ orders }"}';

function chunkedPost(chunks: readonly string[], path = '/graphql', method = 'POST'): string {
  const lines = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const [head] = rawPost('').split('Content-Length', 1);
  return `${head}Transfer-Encoding: chunked\r\n\r\n${lines.join('')}0\r\n\r\n`.replace(
    'POST /graphql',
    `${method} ${path}`,
  );
}

describe('a response', () => {
  it('has one listener per event, because arrays of two make V8 promote requests', async () => {
    await using service = await startGateway();
    const counts: number[] = [];
    const count = (message: unknown) => {
      const { request, response } = message as Record<'request' | 'response', EventEmitter>;
      for (const emitter of [request, response]) {
        for (const name of emitter.eventNames()) counts.push(emitter.listenerCount(name));
      }
    };
    subscribe('http.server.response.finish', count);
    const responses = await sendRaw(service.url, rawPost(typename) + lastProbe);
    unsubscribe('http.server.response.finish', count);
    expect(statusesOf(responses)).toEqual([200, 200]);
    expect(counts.length).toBeGreaterThan(2);
    expect(new Set(counts)).toEqual(new Set([1]));
  });
});

describe('a body in chunks', () => {
  it.each([
    ['/graphql', 'POST'],
    ['/livez', 'POST'],
    ['/v1/pets', 'POST'],
    ['/nowhere', 'POST'],
    ['/graphql?query={__typename}', 'GET'],
  ])('closes the connection when there are too many: %s %s', async (path, method) => {
    await using service = await startGateway();
    const responses = await sendRaw(
      service.url,
      chunkedPost(Array(20_000).fill(' '), path, method) + lastProbe,
    );
    expect(statusesOf(responses)).toHaveLength(1);
    expect(responses).toMatch(/^Connection: close\r$/im);
  });

  it('gets one response if it is malformed after many chunks', async () => {
    await using service = await startGateway();
    const body = chunkedPost(Array(3000).fill(' ')).replace(/0\r\n\r\n$/, 'nonsense\r\n');
    const responses = await sendRaw(service.url, rawPost(typename) + body + lastProbe);
    expect(statusesOf(responses)).toEqual([200, 400]);
  });

  it('gets 400 if its client ends the connection before the body', async () => {
    await using service = await startGateway();
    for (const part of ['', '5\r\nab', '1\r\n{\r\n', '1\r\n \r\n'.repeat(2000)]) {
      const socket = connectTo(service.url);
      socket.end(chunkedPost([]).replace('0\r\n\r\n', part));
      expect(statusesOf(await text(socket))).toEqual([400]);
    }
  });

  it('is refused together with the tunnel that it requests', async () => {
    await using service = await startGateway();
    const tunnel = chunkedPost([typename], 'localhost:22', 'CONNECT');
    expect(statusesOf(await sendRaw(service.url, rawPost(typename) + tunnel))).toEqual([200, 400]);
  });

  it('gets its response beside an offer of HTTP/2, as from Java', async () => {
    await using service = await startGateway();
    const offer = chunkedPost([typename]).replace(
      'Host: localhost',
      'Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM10000',
    );
    const responses = await sendRaw(service.url, offer + rawPost(typename) + offer + lastProbe);
    expect(statusesOf(responses)).toEqual([200, 200, 200, 200]);
    expect(responses.split(typenameResult)).toHaveLength(4);
  });
});

describe('a body that is too large', () => {
  it('is read to its end up to 1 MiB, and the connection stays open', async () => {
    await using service = await startGateway();
    const responses = await sendRaw(service.url, rawPost(' '.repeat(1024 * 1024)) + lastProbe);
    expect(statusesOf(responses)).toEqual([413, 200]);
  });

  it('closes the connection beyond that', async () => {
    await using service = await startGateway();
    const head = rawPost('').replace('Content-Length: 0', 'Content-Length: 100000000');
    const responses = await sendRaw(service.url, head + ' '.repeat(1024 * 1024 + 1));
    expect(statusesOf(responses)).toEqual([413]);
  });
});

describe('a client that resets its connection before it is accepted', () => {
  it('causes no work', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const list = (limit: number) => rawPost(`{"query":"{ pets(limit: ${limit}) { id } }"}`);
    const { port } = new URL(service.url);
    const client = `
      const socket = require('node:net').connect(${port}, '127.0.0.1');
      socket.write(${JSON.stringify(list(1))}, () => socket.resetAndDestroy());
    `;
    // Synchronous, so that the gateway accepts nothing while the client runs.
    execFileSync(process.execPath, ['-e', client]);
    expect(statusesOf(await sendRaw(service.url, list(2) + lastProbe))).toEqual([200, 200]);
    expect(calls).toEqual(['listPets {"limit":2}']);
  });
});

describe('a client that leaves', () => {
  it.each([
    ['before its first request', ''],
    ['in the middle of a request', 'POST /graphql HTTP/1.1\r\nHost'],
    ['after its last response', rawPost(typename)],
  ])('%s has its connection closed immediately', async (_, sent) => {
    await using service = await startGateway();
    const start = performance.now();
    const sockets = Array.from({ length: 20 }, () => connectTo(service.url));
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
    const socket = connectTo(service.url);
    socket.end(rawPost(orders).repeat(count));
    expect(statusesOf(await text(socket))).toEqual(Array(count).fill(200));
  });

  it('gets its response if its body is in many chunks', async () => {
    await using service = await startGateway();
    const socket = connectTo(service.url);
    socket.end(chunkedPost([...typename, ...Array(3000).fill(' ')]));
    expect(await text(socket)).toContain(typenameResult);
  });

  it('gets its response after a slow body', async () => {
    await using service = await startGateway();
    const socket = connectTo(service.url);
    const request = rawPost(typename);
    socket.write(request.slice(0, -5));
    await outlastHalfClose();
    socket.end(request.slice(-5));
    expect(statusesOf(await text(socket))).toEqual([200]);
  });
});

describe('a request', () => {
  it.each([
    ['for an upgrade to WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket'],
    ['for an upgrade to HTTP/2', 'Connection: Upgrade\r\nUpgrade: h2c'],
    ['with an unknown expectation', 'Expect: nothing'],
  ])('%s gets its response, and so does the next one', async (_, headers) => {
    await using service = await startGateway();
    for (const before of ['', rawPost(typename), chunkedPost([typename])]) {
      const get = rawGet('/graphql?query={__typename}', `${headers}\r\n`);
      const responses = await sendRaw(
        service.url,
        before + get.repeat(2) + rawPost(typename) + lastProbe,
      );
      expect(new Set(statusesOf(responses))).toEqual(new Set([200]));
      expect(responses.split(typenameResult)).toHaveLength(before === '' ? 4 : 5);
    }
  });
});

describe('a request without a Host', () => {
  it('is refused, and nothing behind it runs', async () => {
    await using service = await startGateway();
    const pet = '{"name":"Ghost","categoryId":1}';
    const behind = rawPost(pet, '', '/v1/pets');
    for (const head of [
      'GET / HTTP/1.1\r\n\r\n',
      `POST / HTTP/1.1\r\nContent-Length: ${behind.length}\r\n\r\n`,
    ]) {
      expect(statusesOf(await sendRaw(service.url, head + behind))).toEqual([400]);
    }
    const pets = await fetch(`${service.url}/v1/pets?limit=100`, {
      headers: { authorization: 'Bearer demo-key' },
    });
    expect(await pets.text()).not.toContain('Ghost');
  });
});

describe('pipelined requests', () => {
  it('get their responses before headers that are too long', async () => {
    await using service = await startGateway();
    const long = rawGet('/', `X-Long: ${'x'.repeat(20_000)}\r\n`);
    expect(statusesOf(await sendRaw(service.url, rawPost(typename) + long))).toEqual([200, 431]);
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
    const socket = connectTo(service.url);
    await once(socket, 'connect');
    socket.pause().write(rawPost(orders).repeat(2000) + lastProbe);
    await vi.waitFor(() => expect(calls).toBe(1));
    // Other connections get responses meanwhile.
    for (let others = 0; others < 20; others++) {
      expect((await fetch(`${service.url}/graphql?query={__typename}`)).status).toBe(200);
    }
    expect(calls).toBe(1);
    socket.destroy();
  });

  it('close their connections when they hold too much unparsed input together', async () => {
    const { petStore, release } = holdingOrders(await openBuiltin());
    await using service = await startGateway({ petStore });
    let closed = 0;
    const sockets = Array.from({ length: 400 }, () =>
      connectTo(service.url).once('close', () => closed++),
    );
    const bare = rawGet('/').repeat(2500);
    for (const socket of sockets) socket.resume().write(rawPost(orders) + bare);
    await vi.waitFor(() => expect(closed).toBeGreaterThan(300), { timeout: 60_000 });
    // The 4 MiB of a key are 64 reads of 64 KiB.
    expect(closed).toBeLessThan(345);
    const other = rawPost(typename).replace('demo-key', 'another');
    const responses = await sendRaw(service.url, other.repeat(16) + lastProbe);
    expect(statusesOf(responses)).toHaveLength(17);
    release();
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(
      async () => {
        const responses = await sendRaw(service.url, rawPost(typename).repeat(16) + lastProbe);
        expect(statusesOf(responses)).toHaveLength(17);
      },
      { timeout: 15_000 },
    );
  });
});
