import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeResponse } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { valuesOf } from '../../support/metrics.ts';

const pets = encodeResponse('200 OK', '[]');
const oops = encodeResponse('500 Oops', '');
const respond = (bytes: Buffer) => (socket: Socket) => void socket.write(bytes);
const reset = (socket: Socket) => void socket.resetAndDestroy();

const lists = (rest: Awaited<ReturnType<typeof startRest>>, keys: string) =>
  Promise.allSettled(Array.from(keys, (key) => rest.list(key)));

/** Stops the clock, and returns a function that advances it. */
function stopClock() {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms: number) => vi.advanceTimersByTime(ms);
}

describe('an open circuit', () => {
  it.each([
    { of: 'a key', fail: respond(oops), keys: 'aaa', key: 'a', refused: { pets: 1 }, logged: [] },
    {
      ...{ of: 'the service', fail: reset, keys: 'abc', key: 'd', refused: {} },
      logged: ['circuit opened', 'circuit closed'],
    },
  ])('of $of rejects calls at once, and lets one probe through after 5 s', async (circuit) => {
    const { fail, keys, key, refused, logged } = circuit;
    const advance = stopClock();
    const { promise: probed, resolve } = Promise.withResolvers<Socket>();
    let answer: (socket: Socket) => void = fail;
    await using rest = await startRest((socket) => answer(socket), { breakAfterFailures: 3 });
    const message = expect.stringContaining('Calls are paused');
    const expectRejected = (retryAfterMs: number) =>
      expect(rest.list(key)).rejects.toMatchObject({ message, retryAfterMs });
    await lists(rest, keys);
    expect(await valuesOf(rest.metrics, 'petstore_rest_refused_keys', 'service')).toEqual(refused);
    const attempts = rest.attempts();
    await expectRejected(5000);
    advance(4999);
    await expectRejected(1);
    expect(rest.attempts()).toBe(attempts);
    advance(1);
    await expect(rest.list(key)).rejects.not.toThrow('Calls are paused');
    await expectRejected(5000);
    advance(5000);
    answer = resolve;
    const probe = rest.list(key);
    const socket = await probed;
    await expectRejected(1000);
    answer = respond(pets);
    socket.write(pets);
    expect([await probe, await rest.list(key)]).toEqual([[], []]);
    const lines = rest.logged.map((line) => JSON.parse(line)).filter(({ service }) => service);
    expect(lines.map(({ msg }) => msg)).toEqual(logged);
  });

  it('gives the places of the calls that it rejects back', async () => {
    const limits = { breakAfterFailures: 1, maxConnections: 2 };
    await using rest = await startRest(respond(oops), limits);
    await lists(rest, 'aaaa');
    await lists(rest, 'a');
    expect(rest.attempts()).toBeLessThan(4);
    expect(await valuesOf(rest.metrics, 'petstore_limit_used', 'limit')).toEqual({});
  });

  it('takes failures in a row', async () => {
    await using rest = await startRest(
      (socket, attempt) => void socket.write(attempt === 3 ? pets : oops),
      { breakAfterFailures: 3 },
    );
    for (let call = 1; call <= 7; call++) await lists(rest, 'a');
    expect(rest.attempts()).toBe(6);
  });

  it('waits for its probe, although a call from before it opened fails in the meantime', async () => {
    const advance = stopClock();
    const held: Socket[] = [];
    const hold = (socket: Socket) => void held.push(socket);
    let answer = hold;
    await using rest = await startRest((socket) => answer(socket), { breakAfterFailures: 3 });
    const before = expect(rest.list('a')).rejects.toMatchObject({ status: 500 });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    advance(1);
    answer = respond(oops);
    await lists(rest, 'aaa');
    advance(5000);
    answer = hold;
    const probe = rest.list('a');
    await vi.waitFor(() => expect(held).toHaveLength(2));
    held[0]?.write(oops);
    await before;
    await expect(rest.list('a')).rejects.toMatchObject({ retryAfterMs: 1000 });
    held[1]?.write(pets);
    expect(await probe).toEqual([]);
  });

  it('allows another probe if the first one was cancelled', async () => {
    const advance = stopClock();
    const { promise: probed, resolve } = Promise.withResolvers<void>();
    let answer: (socket: Socket) => void = respond(oops);
    await using rest = await startRest((socket) => answer(socket), { breakAfterFailures: 3 });
    await lists(rest, 'aaa');
    advance(5000);
    answer = () => resolve();
    const client = new AbortController();
    const probe = expect(rest.list('a', client.signal)).rejects.toThrow();
    await probed;
    client.abort();
    await probe;
    answer = respond(pets);
    expect(await rest.list('a')).toEqual([]);
  });

  it('leaves the gateway ready when a probe is due, so that requests arrive', async () => {
    const advance = stopClock();
    await using rest = await startRest(reset, { breakAfterFailures: 2 });
    await lists(rest, 'ab');
    await expect(rest.petStore.checkReady()).rejects.toThrow('repeatedly');
    advance(5000);
    await rest.petStore.checkReady();
  });

  it('knows the outcome of a call before the next one in the queue starts', async () => {
    let answer = respond(oops);
    const limits = { maxConnections: 1, breakAfterFailures: 2, halfOpenAfterMs: 0 };
    await using rest = await startRest((socket) => answer(socket), limits);
    for (const _ of [1, 2]) await expect(rest.list()).rejects.toMatchObject({ status: 500 });
    answer = respond(pets);
    // The first is the probe; while it decides, others would be rejected.
    const all = Array.from({ length: 5 }, () => rest.list());
    expect(await Promise.all(all)).toEqual([[], [], [], [], []]);
  });
});

describe('the failures of one key', () => {
  it('count again after a success', async () => {
    let answer = reset;
    await using rest = await startRest((socket) => answer(socket), { breakAfterFailures: 3 });
    await lists(rest, 'a');
    answer = respond(pets);
    expect(await rest.list('b')).toEqual([]);
    answer = reset;
    await lists(rest, 'abc');
    await expect(rest.list('d')).rejects.toThrow('Calls are paused');
  });

  const limits = { breakAfterFailures: 5 };

  it.each([
    ['503', respond(encodeResponse('503 Busy', ''))],
    ['reset', reset],
  ])('only affect that key: %s', async (_, fail) => {
    await using rest = await startRest((socket, _attempt, head) => {
      if (/Bearer [xy]/.test(head)) fail(socket);
      else socket.write(pets);
    }, limits);
    await lists(rest, 'xy'.repeat(20));
    await expect(rest.list('x')).rejects.toThrow('for this API key');
    for (const key of 'abcdefghij') expect(await rest.list(key)).toEqual([]);
    await rest.petStore.checkReady();
  });

  it('open the circuit of the service only if calls of several keys get no response', async () => {
    let answer = respond(oops);
    await using rest = await startRest((socket) => answer(socket), limits);
    await lists(rest, 'abcde'.repeat(3));
    await rest.petStore.checkReady();
    answer = reset;
    await lists(rest, 'abcddd');
    await rest.petStore.checkReady();
    await rest.list('e').catch(() => {});
    for (const call of [rest.list('f'), rest.petStore.checkReady()]) {
      await expect(call).rejects.toThrow(/failed repeatedly\. Calls are paused/);
    }
  });

  it.each([
    ['the key', 'k'.repeat(20), 'k', respond(oops)],
    ['the service', 'abcdefghijklmnopqrst', 'z', reset],
  ])('do not count against %s if another call has succeeded meanwhile', async (_, keys, key, fail) => {
    const held: Socket[] = [];
    await using rest = await startRest((socket, attempt) => {
      if (attempt <= 20) held.push(socket);
      else socket.write(pets);
    }, limits);
    const late = lists(rest, keys);
    await vi.waitFor(() => expect(held).toHaveLength(20));
    expect(await rest.list(key)).toEqual([]);
    for (const socket of held) fail(socket);
    await late;
    expect(await rest.list(key)).toEqual([]);
    await rest.petStore.checkReady();
  });
});
