import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { encodeResponse, type Respond } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { openGateway } from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import type { openTelemetry } from '../../support/log.ts';
import { valuesOf } from '../../support/metrics.ts';
import { openRest } from '../../support/rest-gateway.ts';

const pets = encodeResponse('200 OK', '[]');
const added = encodeResponse('201 Created', '{"id":1,"name":"Rex","categoryId":2}');

/** Calls back when undici reports an event of its diagnostics channels. */
function onEvent(name: string, listener: () => void): Disposable {
  subscribe(`undici:${name}`, listener);
  return { [Symbol.dispose]: () => unsubscribe(`undici:${name}`, listener) };
}

/** Calls back when undici has received the headers of a response. */
const onHeaders = (listener: () => void) => onEvent('request:headers', listener);

describe('clients that leave', () => {
  it('while a body arrives count neither against their keys nor against the service', async () => {
    await using rest = await startRest((socket, _attempt, head) => {
      if (head.includes('Bearer stays')) socket.write(pets);
      else socket.write(encodeResponse('200 OK', '[', ['Content-Length: 500']));
    });
    for (let index = 0; index < 18; index++) {
      const client = new AbortController();
      using _ = onHeaders(() => client.abort());
      const call = rest.list(`leaves-${index % 6}`, client.signal);
      await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    }
    expect(await rest.list('stays')).toEqual([]);
    expect(rest.logged).toEqual([]);
  });

  it.each([
    ['500', (socket: Socket) => socket.write(encodeResponse('500 Oops', '')), { status: 500 }],
    ['reset', (socket: Socket) => socket.resetAndDestroy(), { outcome: 'lost' }],
  ])('do not hide the failure of a write: %s', async (_, fail, entry) => {
    const client = new AbortController();
    await using rest = await startRest((socket) => {
      client.abort();
      fail(socket);
    });
    await expect(rest.add(client.signal)).rejects.not.toMatchObject({ name: 'CancelledError' });
    const [line = '{}', ...more] = rest.logged;
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      requestId: 'test',
      operation: 'createPet',
      clientLeft: true,
      ...entry,
    });
    expect(more).toEqual([]);
  });

  it('cancel a write that waits for a connection, so that it is not sent', async () => {
    const held: Socket[] = [];
    await using rest = await startRest((socket) => held.push(socket), { maxConnections: 1 });
    const read = rest.list();
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const client = new AbortController();
    const write = rest.add(client.signal);
    client.abort();
    await expect(write).rejects.toMatchObject({ writeOutcome: 'NOT_DONE' });
    held[0]?.write(pets);
    await read;
    expect(rest.attempts()).toBe(1);
  });
});

describe('a call that has ended', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  it('leaves no timer, and no listener on the signal of its client', async () => {
    await using rest = await startRest((socket) => socket.write(pets));
    const { signal } = new AbortController();
    const before = timers();
    // A timer of connecting may end in the meantime, so it takes several calls to see one that is left.
    for (let calls = 0; calls < 10; calls++) await rest.list('k', signal);
    expect(timers()).toBeLessThan(before + 5);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('leaves no timer if its client disconnects while it waits for a retry', async () => {
    const client = new AbortController();
    await using rest = await startRest((socket) =>
      socket.write(encodeResponse('503 Busy', '', ['Retry-After: 5'])),
    );
    const before = timers();
    const { promise: hasResponse, resolve } = Promise.withResolvers<void>();
    using _ = onHeaders(resolve);
    const call = rest.list('k', client.signal);
    await hasResponse;
    // The deadline, and a pause of five seconds.
    for (let turns = 0; turns < 5; turns++) await setImmediate();
    expect(timers()).toBe(before + 2);
    client.abort();
    await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    expect(timers()).toBe(before);
    expect(rest.attempts()).toBe(1);
  });

  it('leaves a connection that is closed with the backend', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    await using server = await startRest((socket) => {
      socket.once('close', () => resolve());
      socket.write(pets);
    });
    await server.list();
    await server.petStore[Symbol.asyncDispose]();
    await closed;
  });
});

/** Returns how many calls were sent again, by what became of them before. */
const repetitions = ({ metrics }: ReturnType<typeof openTelemetry>) =>
  valuesOf(metrics, 'petstore_rest_retries_total', 'after');

describe('a retry', () => {
  it.each<[reason: string, fail: (socket: Socket) => void]>([
    ['502', (socket) => socket.write(encodeResponse('502 Bad', ''))],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('is counted by the reason: %s', async (reason, fail) => {
    await using rest = await startRest((socket, attempt) => {
      if (attempt === 1) fail(socket);
      else socket.write(pets);
    });
    expect(await rest.list()).toEqual([]);
    expect(await repetitions(rest)).toEqual({ [reason]: 1 });
  });

  it('that is refused leaves the caller with the first response', async () => {
    await using rest = await startRest((socket) => socket.write(encodeResponse('503 Busy', '')), {
      breakAfterFailures: 1,
    });
    await expect(rest.list()).rejects.toMatchObject({ name: 'ErrorResponse', status: 503 });
    expect(rest.attempts()).toBe(1);
  });

  it('that is lost leaves the caller with the first response', async () => {
    await using rest = await startRest((socket, attempt) =>
      attempt === 1 ? socket.write(encodeResponse('502 Bad', '')) : socket.resetAndDestroy(),
    );
    await expect(rest.list()).rejects.toMatchObject({ name: 'ErrorResponse', status: 502 });
  });

  it('waits as long as Retry-After says', async () => {
    const times: number[] = [];
    await using rest = await startRest((socket, attempt) => {
      times.push(performance.now());
      if (attempt > 1) socket.write(pets);
      else socket.write(encodeResponse('503 Busy', '', ['Retry-After: 1']));
    });
    expect(await rest.list()).toEqual([]);
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThan(990);
  });

  it('is neither waited for nor counted after its client has disconnected', async () => {
    // A key may have five retries at a time.
    const clients = 6;
    await using rest = await startRest((socket, attempt) => {
      const after = attempt <= clients ? ['Retry-After: 5'] : [];
      socket.write(attempt > clients + 1 ? pets : encodeResponse('503 Busy', '', after));
    });
    let client = new AbortController();
    // The client leaves after the response, before the call continues at the end of the turn.
    using _ = onEvent('request:trailers', () => queueMicrotask(() => client.abort()));
    for (let index = 0; index < clients; index++) {
      client = new AbortController();
      const call = rest.list('k', client.signal);
      await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    }
    expect(rest.attempts()).toBe(clients);
    expect(await rest.list('k')).toEqual([]);
  });

  it('does not happen if the deadline is earlier than Retry-After, which is not waited for', async () => {
    await using rest = await startRest((socket) =>
      socket.write(encodeResponse('503 Busy', '', ['Retry-After: 60'])),
    );
    const start = performance.now();
    await expect(rest.list()).rejects.toMatchObject({ status: 503, retryAfterMs: 60_000 });
    // The deadline is ten seconds after the start.
    expect(performance.now() - start).toBeLessThan(5000);
    expect(rest.attempts()).toBe(1);
  });
});

describe('a kept connection that the service closes as a call goes out', () => {
  /** Serves every second request, and closes the connection at the others. */
  const closeEverySecond = (close: (socket: Socket) => void): Respond => {
    const served = new WeakSet<Socket>();
    return (socket, _attempt, head) => {
      if (served.has(socket)) return close(socket);
      served.add(socket);
      socket.write(head.startsWith('POST') ? added : pets);
    };
  };

  it.each([
    ['FIN', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('delays no read, however often: %s', async (_, close) => {
    const limits = { maxConnections: 1, breakAfterFailures: 3 };
    await using rest = await startRest(closeEverySecond(close), limits);
    for (let index = 0; index < 40; index++) expect(await rest.list()).toEqual([]);
    // The first call had a new connection; each of the others found the kept one closed.
    expect(rest.attempts()).toBe(1 + 2 * 39);
    expect(await repetitions(rest)).toEqual({ stale: 39 });
    expect(rest.logged).toEqual([]);
  });

  it('is followed by a retry if the service then refuses a connection', async () => {
    await using rest = await startRest(
      (socket, attempt) => {
        if (attempt !== 2) return void socket.write(pets);
        rest.refuse();
        socket.resetAndDestroy();
      },
      { maxConnections: 1 },
    );
    await rest.list();
    // Earlier than the shortest pause before a retry.
    using _ = onEvent('client:connectError', rest.accept);
    expect(await rest.list()).toEqual([]);
    expect(rest.attempts()).toBe(3);
    expect(await repetitions(rest)).toEqual({ noConnection: 1 });
    expect(rest.logged).toEqual([]);
  });

  it('decides the outcome if the gateway refuses to send the call again', async () => {
    const kept: Socket[] = [];
    await using rest = await startRest(
      (socket, attempt) => {
        if (attempt === 1) socket.write(pets);
        else if (attempt === 2) kept.push(socket);
        else socket.write(encodeResponse('500 Oops', ''));
      },
      { breakAfterFailures: 1 },
    );
    await rest.list();
    // The connection can be used again.
    await setImmediate();
    const closed = expect(rest.list()).rejects.toThrow('closed the connection');
    await vi.waitFor(() => expect(kept).toHaveLength(1), { interval: 5 });
    await expect(rest.list()).rejects.toMatchObject({ status: 500 });
    // The circuit of the key is open now.
    kept[0]?.resetAndDestroy();
    await closed;
    expect(rest.attempts()).toBe(3);
  });

  /** Lists with one key per call over one connection, which is taken over while a call fails. */
  async function listTogether(breakAfterFailures: number) {
    const sent: Record<string, number> = {};
    const reset = closeEverySecond((socket) => socket.resetAndDestroy());
    await using rest = await startRest(
      (socket, attempt, head) => {
        const [key = ''] = /Bearer \w+/.exec(head) ?? [];
        sent[key] = (sent[key] ?? 0) + 1;
        reset(socket, attempt, head);
      },
      { maxConnections: 1, breakAfterFailures },
    );
    const calls = Array.from({ length: 20 }, (_, index) => rest.list(`k${index}`));
    await Promise.allSettled(calls);
    return { sent: Math.max(...Object.values(sent)), metrics: await rest.metrics.scrape() };
  }

  it('lets a read be sent three times at most', async () => {
    expect((await listTogether(10)).sent).toBe(3);
  });

  it('counts in the circuits if a call was sent before', async () => {
    const { metrics } = await listTogether(1);
    expect(metrics.text).toMatch(/^petstore_rest_refused_keys\{.*\} [1-9]/m);
  });

  it('leaves the outcome of a write unknown', async () => {
    const reset = closeEverySecond((socket) => socket.resetAndDestroy());
    await using rest = await startRest(reset, { maxConnections: 1 });
    await rest.list();
    await expect(rest.add()).rejects.toMatchObject({
      message: expect.stringContaining('may have been carried out'),
      writeOutcome: 'UNKNOWN',
    });
    expect(rest.attempts()).toBe(2);
  });

  it('repeats a write that was never written to it', async () => {
    let kept: Socket | undefined;
    await using rest = await startRest(
      (socket, _attempt, head) => {
        kept = socket;
        socket.write(head.startsWith('POST') ? added : pets);
      },
      { maxConnections: 1 },
    );
    for (let index = 0; index < 20; index++) {
      await rest.list();
      // undici writes to a kept connection only after it has read from it once more.
      const write = rest.add();
      kept?.resetAndDestroy();
      expect(await write).toMatchObject({ id: '1' });
    }
    expect(rest.attempts()).toBe(40);
    expect(await repetitions(rest)).toEqual({ connectionClosed: 20 });
    expect(rest.logged).toEqual([]);
  });
});

describe('a connection', () => {
  it('is replaced when it is old, so that a service that moves is followed', async () => {
    const sockets = new Set<Socket>();
    await using rest = await startRest(
      (socket) => {
        sockets.add(socket);
        socket.write(pets);
      },
      { maxConnectionAgeMs: 20 },
    );
    await vi.waitFor(async () => {
      expect(await rest.list()).toEqual([]);
      expect(sockets.size).toBe(3);
    });
  });

  it('is closed when it is idle for that time, even if the service would keep it longer', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    await using rest = await startRest(
      (socket) => {
        socket.once('close', () => resolve());
        socket.write(encodeResponse('200 OK', '[]', ['Keep-Alive: timeout=300']));
      },
      { maxConnectionAgeMs: 20 },
    );
    await rest.list();
    await closed;
  });

  it('starts without the age of the one before it', async () => {
    const heads: string[] = [];
    const closed: Promise<unknown>[] = [];
    await using rest = await startRest(
      (socket, _attempt, head) => {
        heads.push(head);
        closed.push(once(socket, 'close'));
        socket.write(pets, () => setTimeout(() => socket.end(), 30));
      },
      { maxConnectionAgeMs: 20, maxConnections: 1 },
    );
    for (let index = 0; index < 3; index++) {
      await rest.list();
      await closed[index];
    }
    for (const head of heads) expect(head).toMatch(/connection: keep-alive/i);
  });
});

describe('the error of a mutation', () => {
  it.each([
    ['a value that the gateway refuses', 'categoryId: "x"', undefined, 'BAD_USER_INPUT'],
    ['no key', 'categoryId: 2', { authorization: '' }, 'UNAUTHENTICATED'],
  ])('is NOT_DONE if nothing was sent: %s', async (_, field, headers, code) => {
    await using opened = await openGateway();
    const text = `mutation { addPet(input: { name: "Rex", ${field} }) { id } }`;
    const { errors } = await postGraphQL(opened.gateway, text, {}, headers);
    expect(errors).toMatchObject([{ extensions: { code, outcome: 'NOT_DONE' } }]);
  });

  it('is NOT_DONE if connecting fails', async () => {
    const rest = await startRest(() => {});
    await rest[Symbol.asyncDispose]();
    await using opened = await openGateway({ petStore: openRest(rest.url) });
    const { errors } = await postGraphQL(
      opened.gateway,
      'mutation { addPet(input: { name: "Rex", categoryId: 2 }) { id } m: sendMessage(message: "x") { id } }',
    );
    const extensions = { code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ extensions }, { extensions }]);
  });
});
