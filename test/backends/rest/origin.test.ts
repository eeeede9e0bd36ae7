import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { defaultLimits } from '../../../src/backends/rest/origin.ts';
import { openRestPetStore } from '../../../src/backends/rest/pet-store.ts';
import { BackendTimeoutError } from '../../../src/contract/error.ts';
import { encodeResponse, type Respond, startFaultServer } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';

const pets = encodeResponse('200 OK', '[]');

const MiB = 1024 * 1024;

it('the limits of REST calls are those of docs/reliability.md', () => {
  expect(defaultLimits).toEqual({
    connectTimeoutMs: 2000,
    maxConnectionAgeMs: 30_000,
    headersTimeoutMs: 5000,
    maxResponseBytes: 4 * MiB,
    maxBufferedBytes: 32 * MiB,
    maxConnections: 128,
    maxWaiting: 1024,
    breakAfterFailures: 10,
    halfOpenAfterMs: 5000,
  });
});

it('starts a call that has waited once the circuits know the outcome of the call before', async () => {
  let up = false;
  await using rest = await startRest(
    (socket) => socket.write(up ? pets : encodeResponse('500 Oops', '')),
    { maxConnections: 1, breakAfterFailures: 2, halfOpenAfterMs: 0 },
  );
  for (const _ of [1, 2]) await expect(rest.list()).rejects.toMatchObject({ status: 500 });
  up = true;
  // The first is the probe; while it decides, others would be refused.
  const lists = Array.from({ length: 5 }, () => rest.list());
  expect(await Promise.all(lists)).toEqual([[], [], [], [], []]);
});

describe('an open circuit', () => {
  const limits = { breakAfterFailures: 3, halfOpenAfterMs: 100 };

  it.each<[string, string[], string, (socket: Socket) => void, logged: string[]]>([
    ['a key', ['a', 'a', 'a'], 'a', (socket) => socket.write(encodeResponse('500 Oops', '')), []],
    [
      'the service',
      ['a', 'b', 'c'],
      'd',
      (socket) => socket.resetAndDestroy(),
      ['circuit opened', 'circuit closed'],
    ],
  ])('of %s rejects calls immediately, and later lets one probe through', async (_, failing, key, fail, logged) => {
    const probes: Socket[] = [];
    let isFailing = true;
    const respond: Respond = (socket) => (isFailing ? fail(socket) : probes.push(socket));
    await using rest = await startRest(respond, limits, 2000);
    await Promise.allSettled(failing.map((one) => rest.list(one)));
    const attempts = rest.attempts();
    await expect(rest.list(key)).rejects.toMatchObject({
      name: 'BackendUnavailableError',
      retryAfterMs: expect.any(Number),
    });
    expect(rest.attempts()).toBe(attempts);
    isFailing = false;
    const tried: Promise<unknown>[] = [];
    await vi.waitFor(
      () => {
        tried.push(rest.list(key).catch(() => undefined));
        expect(probes).toHaveLength(1);
      },
      { interval: 20 },
    );
    for (let count = 0; count < 5; count++) {
      await expect(rest.list(key)).rejects.toThrow('Calls are paused');
    }
    for (const probe of probes) probe.write(pets);
    await Promise.all(tried);
    expect(probes).toHaveLength(1);
    isFailing = true;
    await expect(rest.list(key)).rejects.not.toThrow('Calls are paused');
    const lines = rest.logged.map((line) => JSON.parse(line)).filter(({ service }) => service);
    expect(lines.map(({ msg }) => msg)).toEqual(logged);
  });
});

describe('the failures of one key', () => {
  const limits = { breakAfterFailures: 5, halfOpenAfterMs: 60_000 };
  const lists = (rest: Awaited<ReturnType<typeof startRest>>, keys: readonly string[]) =>
    Promise.allSettled(keys.map((key) => rest.list(key)));
  const many = (key: string, count = 50) => Array.from({ length: count }, () => key);
  const keyCircuitOpen = { message: expect.stringContaining('for this API key') };

  it.each<[name: string, fail: (socket: Socket) => void, timeoutMs?: number]>([
    ['503', (socket) => socket.write(encodeResponse('503 Busy', ''))],
    ['500', (socket) => socket.write(encodeResponse('500 Oops', ''))],
    ['reset', (socket) => socket.resetAndDestroy()],
    ['no response', () => {}, 500],
  ])('only affect that key: %s', async (_, fail, timeoutMs) => {
    const respond: Respond = (socket, _attempt, head) => {
      if (head.includes('Bearer bad')) fail(socket);
      else socket.write(pets);
    };
    await using rest = await startRest(respond, limits, timeoutMs);
    await lists(rest, [...many('bad-1'), ...many('bad-2')]);
    await expect(rest.list('bad-1')).rejects.toMatchObject(keyCircuitOpen);
    for (let index = 0; index < 20; index++) expect(await rest.list(`good-${index}`)).toEqual([]);
    await rest.petStore.checkReady();
  });

  it('open the circuit of the service only if calls of several keys get no response', async () => {
    await using rest = await startRest(() => {}, limits, 100);
    await lists(rest, ['a', 'b', 'c', 'd', 'd', 'd']);
    await expect(rest.list('e')).rejects.toBeInstanceOf(BackendTimeoutError);
    await expect(rest.list('f')).rejects.toThrow(/failed repeatedly\. Calls are paused/);
    await expect(rest.petStore.checkReady()).rejects.toThrow(
      /failed repeatedly\. Calls are paused/,
    );
  });

  it('open the circuit of the service if calls of several keys are lost after errors', async () => {
    let isUp = true;
    await using rest = await startRest((socket) => {
      if (isUp) socket.write(encodeResponse('500 Oops', ''));
      else socket.resetAndDestroy();
    }, limits);
    const names = ['a', 'b', 'c', 'd', 'e'];
    await lists(rest, [...names, ...names, ...names]);
    isUp = false;
    await lists(rest, names);
    await expect(rest.petStore.checkReady()).rejects.toThrow(/Calls are paused/);
  });

  it('do not count against the service if another call has succeeded meanwhile', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `bad-${index}`);
    await using rest = await startRest(
      (socket, _attempt, head) => {
        if (!head.includes('Bearer bad')) socket.write(pets);
      },
      limits,
      300,
    );
    const late = lists(rest, keys);
    await vi.waitFor(() => expect(rest.attempts()).toBe(20), { interval: 5 });
    expect(await rest.list('good')).toEqual([]);
    await late;
    expect(await rest.list('good')).toEqual([]);
  });

  it('allow another probe if the first one was cancelled', async () => {
    let isUp = false;
    await using rest = await startRest(
      (socket, attempt) => {
        if (attempt <= 3) socket.write(encodeResponse('500 Oops', ''));
        else if (isUp) socket.write(pets);
      },
      { breakAfterFailures: 3, halfOpenAfterMs: 20 },
    );
    await lists(rest, many('a', 3));
    const caller = new AbortController();
    const call = callWith('a', caller.signal);
    const isProbing = () => expect(rest.attempts()).toBe(4);
    const probe = vi.waitFor(async () => rest.petStore.listPets(call, {}), { interval: 5 });
    await vi.waitFor(isProbing, { interval: 5 });
    isUp = true;
    caller.abort();
    await expect(probe).rejects.toThrow();
    expect(await rest.list('a')).toEqual([]);
  });

  it('leave the gateway ready when a probe is due, so that requests arrive', async () => {
    await using rest = await startRest((socket) => socket.resetAndDestroy(), {
      breakAfterFailures: 2,
      halfOpenAfterMs: 1000,
    });
    await lists(rest, ['a', 'b']);
    await expect(rest.petStore.checkReady()).rejects.toThrow('repeatedly');
    await vi.waitFor(() => rest.petStore.checkReady(), { interval: 50, timeout: 10_000 });
  });
});

describe('the limit on calls', () => {
  it('leaves connections and queue places to other keys if the calls of one key hang', async () => {
    await using rest = await startRest(
      (socket, _attempt, head) => {
        if (!head.includes('Bearer bad')) socket.write(pets);
      },
      { maxConnections: 8, maxWaiting: 16, breakAfterFailures: 1000, headersTimeoutMs: 60_000 },
      1000,
    );
    const hung = Promise.allSettled(Array.from({ length: 18 }, () => rest.list('bad')));
    await expect(rest.list('bad')).rejects.toThrow('Too many calls of this API key are waiting');
    await vi.waitFor(() => expect(rest.attempts()).toBe(6), { interval: 5 });
    for (let index = 0; index < 20; index++) expect(await rest.list('good')).toEqual([]);
    for (const { status } of await hung) expect(status).toBe('rejected');
    // Calls that ended, in flight or waiting, free their places.
    const attempts = rest.attempts();
    const again = Promise.allSettled(Array.from({ length: 18 }, () => rest.list('bad')));
    const expected = attempts + 6;
    await vi.waitFor(() => expect(rest.attempts()).toBeGreaterThanOrEqual(expected), {
      interval: 5,
    });
    await again;
  });

  it('counts the time in the queue towards the deadline', async () => {
    const limits = { maxConnections: 1, headersTimeoutMs: 60_000 };
    await using rest = await startRest(() => {}, limits, 400);
    const first = rest.list();
    // Its deadline passes while the first call still has the connection.
    const waitingSince = performance.now() - 200;
    const waiting = rest.petStore.listPets({ ...callWith('other'), waitingSince }, {});
    const calls = [waiting, first];
    for (const call of calls) await expect(call).rejects.toBeInstanceOf(BackendTimeoutError);
    expect(rest.attempts()).toBe(1);
  });
});

describe('timeouts', () => {
  it('end a call before the deadline if no headers arrive', async () => {
    await using rest = await startRest(() => {}, { headersTimeoutMs: 100 });
    await expect(rest.list()).rejects.toBeInstanceOf(BackendTimeoutError);
  });

  it('end a call before the deadline if connecting takes too long', async () => {
    // The server accepts the connection but does not complete the TLS handshake.
    await using server = await startFaultServer(() => {});
    await using petStore = openRestPetStore(
      {
        baseUrl: new URL(server.url.replace('http:', 'https:')),
        messagesBaseUrl: undefined,
        timeoutMs: 60_000,
        limits: { connectTimeoutMs: 100 },
      },
      quiet,
    );
    await expect(petStore.listPets(callWith(), {})).rejects.toBeInstanceOf(BackendTimeoutError);
  });
});

describe('retries', () => {
  /** Opens a service that answers 503 to each call, and holds its retry until the test responds. */
  async function startBusy() {
    const seen = new Set<string | undefined>();
    const held: (() => void)[] = [];
    const rest = await startRest(
      (socket, _attempt, head) => {
        const id = /x-request-id: (\S+)/.exec(head)?.[1];
        if (seen.has(id)) held.push(() => socket.write(pets));
        else socket.write(encodeResponse('503 Busy', ''));
        seen.add(id);
      },
      { breakAfterFailures: 1000 },
    );
    let id = 0;
    return {
      ...rest,
      held,
      list: (key: string, signal?: AbortSignal) => {
        const listed = rest.petStore.listPets(
          { ...callWith(key, signal), requestId: `${++id}` },
          {},
        );
        listed.catch(() => {});
        return listed;
      },
    };
  }
  const busy = { name: 'ErrorResponse', status: 503 };

  it('of one key are made five at a time, and those of other keys are not affected', async () => {
    await using rest = await startBusy();
    const retried = Array.from({ length: 5 }, () => rest.list('a'));
    await vi.waitFor(() => expect(rest.held).toHaveLength(5), { interval: 5 });
    await expect(rest.list('a')).rejects.toMatchObject(busy);
    const other = rest.list('b');
    await vi.waitFor(() => expect(rest.held).toHaveLength(6), { interval: 5 });
    for (const respond of rest.held.splice(0)) respond();
    for (const call of [...retried, other]) expect([...(await call)]).toEqual([]);
    expect(rest.attempts()).toBe(13);
    // A retry that has ended gives its place back.
    const again = rest.list('a');
    await vi.waitFor(() => expect(rest.held).toHaveLength(1), { interval: 5 });
    rest.held[0]?.();
    expect([...(await again)]).toEqual([]);
  });

  it('are made ten at a time in all', async () => {
    await using rest = await startBusy();
    for (const key of [...'aaaaabbbbb']) rest.list(key);
    await vi.waitFor(() => expect(rest.held).toHaveLength(10), { interval: 5 });
    await expect(rest.list('c')).rejects.toMatchObject(busy);
    const { text } = await rest.metrics.scrape();
    expect(text).toContain('petstore_limit_used{limit="pets_retries"} 10');
    expect(text).toContain('petstore_limit_refused_total{limit="pets_retries",by="all"} 1');
  });
});

describe('an unsolicited response', () => {
  it('is not used for the next call', async () => {
    const unsolicited = encodeResponse('200 OK', '[{"id":666,"name":"theirs","categoryId":1}]');
    await using rest = await startRest((socket, attempt) =>
      socket.write(attempt === 1 ? Buffer.concat([pets, unsolicited]) : pets),
    );
    for (const _ of [1, 2, 3]) expect(await rest.list()).toEqual([]);
  });
});

describe('an origin for both base URLs', () => {
  it('has one limit for pets and messages', async () => {
    await using rest = await startRest(() => {}, { maxConnections: 1, maxWaiting: 0 }, 200);
    const list = rest.list();
    await expect(rest.petStore.sendMessage(callWith(), 'Hi')).rejects.toMatchObject({
      name: 'BackendUnavailableError',
      retryAfterMs: 1000,
    });
    await expect(list).rejects.toBeInstanceOf(BackendTimeoutError);
  });
});
