import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BackendTimeoutError } from '../../../src/contract/error.ts';
import type { RestPetStoreOptions } from '../../../src/petstore/rest.ts';
import { encodeResponse, type Respond } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { valuesOf } from '../../support/metrics.ts';
import { openRest } from '../../support/rest-gateway.ts';
import { startServer } from '../../support/server.ts';
import { rex } from '../../support/writes.ts';
import { onUndici } from './undici-events.ts';

const pets = encodeResponse('200 OK', '[]');
const late = { name: 'BackendTimeoutError', writeOutcome: 'NOT_DONE' };

describe('the limit on calls', () => {
  it('serves all keys one after the other, and the calls of each in their order', async () => {
    const served: string[] = [];
    const respond: Respond = (socket, _attempt, head) => {
      served.push(/x-request-id: (\S+)/.exec(head)?.[1] ?? '');
      socket.write(pets);
    };
    await using rest = await startRest(respond, { maxConnections: 1 });
    const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
    const callers = names.map((requestId) =>
      Object.assign(callWith(requestId.charAt(0)), { requestId }),
    );
    await Promise.all(callers.map((caller) => rest.petStore.listPets(caller, {})));
    const of = (key: string) => served.filter((name) => name.startsWith(key));
    expect([...of('a'), ...of('b'), ...of('c')]).toEqual(names);
    for (const name of ['b1', 'c1']) {
      expect(served.indexOf(name)).toBeLessThan(served.indexOf('a3'));
    }
  });

  /** Starts a service that holds the calls of the key `bad` from when `hold` is called to `release`. */
  async function startHolding() {
    const held: Socket[] = [];
    let isHeld = false;
    const respond: Respond = (socket, _attempt, head) => {
      if (isHeld && head.includes('Bearer bad')) held.push(socket);
      else socket.write(pets);
    };
    const rest = await startRest(respond, { maxConnections: 8, maxWaiting: 16 });
    return {
      ...rest,
      fill: (count: number) => Promise.all(Array.from({ length: count }, () => rest.list('bad'))),
      hold: () => {
        isHeld = true;
      },
      holds: (count: number) => vi.waitFor(() => expect(held).toHaveLength(count)),
      respond: () => held.shift()?.write(pets),
      release: () => {
        isHeld = false;
        for (const socket of held) socket.write(pets);
      },
    };
  }

  it('leaves a quarter of connections and queue places to other keys', async () => {
    await using rest = await startHolding();
    await rest.list('bad');
    rest.hold();
    const hung = rest.fill(18);
    await expect(rest.list('bad')).rejects.toThrow('Too many calls of this API key are waiting');
    await rest.holds(6);
    for (let index = 0; index < 20; index++) expect(await rest.list('good')).toEqual([]);
    await rest.holds(6);
    rest.release();
    expect(await hung).toHaveLength(18);
    // Calls that ended gave their places back.
    expect(await rest.fill(18)).toHaveLength(18);
  });

  it('leaves half of connections and queue places to keys that were accepted', async () => {
    await using rest = await startHolding();
    await rest.list('good');
    rest.hold();
    const keys = Array.from({ length: 12 }, (_, index) => `bad${index}`);
    const hung = Promise.all(keys.map((key) => rest.list(key)));
    await expect(rest.list('bad12')).rejects.toThrow('Too many calls are waiting');
    await rest.holds(4);
    expect(await Promise.all(Array.from('0123456789', () => rest.list('good')))).toHaveLength(10);
    await rest.holds(4);
    const refused = await valuesOf(rest.metrics, 'petstore_limit_refused_total', 'limit', 'by');
    expect(refused).toMatchObject({ 'pets_waiting_calls unknown': 1 });
    rest.release();
    expect(await hung).toHaveLength(12);
  });

  it('is not held up by a key whose clients have left the queue', async () => {
    const held: Socket[] = [];
    const hold = (socket: Socket) => void held.push(socket);
    let answer = (socket: Socket) => void socket.write(pets);
    await using rest = await startRest((socket) => answer(socket), { maxConnections: 1 });
    // Accepting a key would look at the queue once more.
    await rest.list('a');
    answer = hold;
    const first = rest.list('a');
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const client = new AbortController();
    const left = expect(rest.list('b', client.signal)).rejects.toThrow('aborted');
    const next = rest.list('c');
    client.abort();
    await left;
    held[0]?.write(pets);
    expect(await first).toEqual([]);
    await vi.waitFor(() => expect(held).toHaveLength(2));
    held[1]?.write(pets);
    expect(await next).toEqual([]);
    expect(await valuesOf(rest.metrics, 'petstore_limit_used', 'limit')).toEqual({});
  });

  it('has more places for a key at once when it is accepted', async () => {
    await using rest = await startHolding();
    rest.hold();
    const all = rest.fill(12);
    await rest.holds(4);
    rest.respond();
    await rest.holds(6);
    rest.release();
    expect(await all).toHaveLength(12);
  });

  it('is one for pets and messages of the same origin', async () => {
    const { promise: held, resolve } = Promise.withResolvers<Socket>();
    await using rest = await startRest(resolve, { maxConnections: 1, maxWaiting: 0 });
    const list = rest.list();
    const refused = { name: 'BackendUnavailableError', retryAfterMs: 1000 };
    await expect(rest.petStore.sendMessage(callWith(), 'Hi')).rejects.toMatchObject(refused);
    (await held).write(pets);
    expect(await list).toEqual([]);
  });

  it('counts a call whose client left until its connection has opened or failed', async () => {
    const { promise: connecting, resolve } = Promise.withResolvers<Socket>();
    let connect: (socket: Socket) => void = resolve;
    await using server = await startServer(createServer((socket) => connect(socket)));
    const limits = { maxConnections: 1, maxWaiting: 0, connectTimeoutMs: 60_000 };
    await using petStore = openTls(server.url, { limits });
    const client = new AbortController();
    const left = expect(petStore.createPet(callWith('a', client.signal), rex)).rejects.toThrow();
    const socket = await connecting;
    client.abort();
    await left;
    const isFull = 'Too many calls';
    await expect(petStore.createPet(callWith('b'), rex)).rejects.toThrow(isFull);
    connect = (next) => next.destroy();
    socket.destroy();
    await vi.waitFor(() =>
      expect(petStore.createPet(callWith('b'), rex)).rejects.not.toThrow(isFull),
    );
  });
});

/** Opens the REST backend for this service over TLS; the servers here complete no handshake. */
const openTls = (url: string, options: Partial<RestPetStoreOptions>) =>
  openRest(url.replace('http:', 'https:'), { timeoutMs: 60_000, ...options });

describe('the deadline of a call', () => {
  const timeoutMs = 1000;
  /** Blocks the thread until all calls are late, before a timer can fire. */
  const block = () => {
    const end = performance.now() + timeoutMs;
    while (performance.now() < end);
  };

  it('includes the time in the queue, from which no late call is sent', async () => {
    const { promise: held, resolve } = Promise.withResolvers<Socket>();
    await using rest = await startRest(resolve, { maxConnections: 1 }, timeoutMs);
    const first = rest.list();
    const next = expect(rest.add()).rejects.toMatchObject(late);
    using _ = onUndici('request:trailers', block);
    (await held).write(pets);
    expect(await first).toEqual([]);
    await next;
    expect(rest.attempts()).toBe(1);
  });

  it('ends calls in the queue although the call before them hangs', async () => {
    await using rest = await startRest(() => {}, { maxConnections: 1 }, 100);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const first = expect(rest.list()).rejects.toBeInstanceOf(BackendTimeoutError);
    const next = expect(rest.add()).rejects.toMatchObject(late);
    clock.mockRestore();
    await Promise.all([first, next]);
    expect(rest.attempts()).toBeLessThan(2);
  });

  it('includes the time to connect, after which no late call is sent', async () => {
    await using rest = await startRest(() => {}, {}, timeoutMs);
    using _ = onUndici('client:connected', block);
    await expect(rest.add()).rejects.toMatchObject(late);
    expect(rest.attempts()).toBe(0);
  });
});

describe('timeouts', () => {
  it('end a call before the deadline if no headers arrive', async () => {
    await using rest = await startRest(() => {}, { headersTimeoutMs: 100 }, 600_000);
    await expect(rest.list()).rejects.toBeInstanceOf(BackendTimeoutError);
  });

  it('end a call before the deadline if connecting takes too long', async () => {
    await using server = await startServer(createServer());
    await using petStore = openTls(server.url, {
      limits: { connectTimeoutMs: 100 },
    });
    await expect(petStore.createPet(callWith(), rex)).rejects.toMatchObject(late);
  });

  it('are no failure of the service if most of the time passed in the queue', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const sockets: Socket[] = [];
    await using server = await startServer(createServer((socket) => sockets.push(socket)));
    const limits = { maxConnections: 1, breakAfterFailures: 2 };
    await using petStore = openTls(server.url, { timeoutMs: 1000, limits });
    const first = expect(petStore.createPet(callWith('a'), rex)).rejects.toThrow('reached');
    const second = expect(petStore.createPet(callWith('b'), rex)).rejects.toMatchObject(late);
    await vi.waitFor(() => expect(sockets).toHaveLength(1));
    vi.advanceTimersByTime(600);
    sockets[0]?.destroy();
    await first;
    await vi.waitFor(() => expect(sockets).toHaveLength(2));
    vi.advanceTimersByTime(400);
    await second;
    sockets[1]?.destroy();
    const third = petStore.createPet(callWith('c'), rex);
    await vi.waitFor(() => expect(sockets).toHaveLength(3));
    sockets[2]?.destroy();
    await expect(third).rejects.toThrow('reached');
  });

  it('open the circuit if the deadline ends calls whose connections do not open', async () => {
    await using server = await startServer(createServer());
    const limits = { breakAfterFailures: 2 };
    await using petStore = openTls(server.url, { timeoutMs: 100, limits });
    for (const key of ['a', 'b']) {
      await expect(petStore.createPet(callWith(key), rex)).rejects.toMatchObject(late);
    }
    const refused = expect(petStore.createPet(callWith('c'), rex)).rejects;
    await refused.toThrow('Calls are paused');
  });
});
