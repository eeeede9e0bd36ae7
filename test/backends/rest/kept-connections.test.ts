import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { encodeResponse, type Respond } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { valuesOf } from '../../support/metrics.ts';
import { onUndici } from './undici-events.ts';

const pets = encodeResponse('200 OK', '[]');
const added = encodeResponse('201 Created', '{"id":1,"name":"Rex","categoryId":2}');
const one = { maxConnections: 1 };

/** Returns how many calls were sent again, by what became of them before. */
const repetitions = ({ metrics }: Awaited<ReturnType<typeof startRest>>) =>
  valuesOf(metrics, 'petstore_rest_retries_total', 'after');

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
  const reset = (socket: Socket) => void socket.resetAndDestroy();

  it.each([
    ['FIN', (socket: Socket) => void socket.end()],
    ['reset', reset],
  ])('fails no read, however often: %s', async (_, close) => {
    const limits = { ...one, breakAfterFailures: 3 };
    await using rest = await startRest(closeEverySecond(close), limits);
    for (let index = 0; index < 10; index++) expect(await rest.list()).toEqual([]);
    // The first call had a new connection; each of the others found the kept one closed.
    expect(rest.attempts()).toBe(1 + 2 * 9);
    expect(await repetitions(rest)).toEqual({ stale: 9 });
    expect(rest.logged).toEqual([]);
  });

  it('is followed by a retry if the service then refuses a connection', async () => {
    await using rest = await startRest((socket, attempt) => {
      if (attempt !== 2) return void socket.write(pets);
      rest.refuse();
      reset(socket);
    }, one);
    await rest.list();
    // Earlier than the shortest pause before a retry.
    using _ = onUndici('client:connectError', rest.accept);
    expect(await rest.list()).toEqual([]);
    expect(rest.attempts()).toBe(3);
    expect(await repetitions(rest)).toEqual({ noConnection: 1 });
    expect(rest.logged).toEqual([]);
  });

  it('decides the outcome if the gateway refuses to send the call again', async () => {
    const kept: Socket[] = [];
    const respond: Respond = (socket, attempt) => {
      if (attempt === 1) socket.write(pets);
      else if (attempt === 2) kept.push(socket);
      else socket.write(encodeResponse('500 Oops', ''));
    };
    await using rest = await startRest(respond, { breakAfterFailures: 1 });
    await rest.list();
    // The connection can be used again.
    await setImmediate();
    const closed = expect(rest.list()).rejects.toThrow('closed the connection');
    await vi.waitFor(() => expect(kept).toHaveLength(1));
    await expect(rest.list()).rejects.toMatchObject({ status: 500 });
    // The circuit of the key is open now.
    kept.map(reset);
    await closed;
    expect(rest.attempts()).toBe(3);
  });

  it.each([
    [10, 3, {}],
    [1, 2, { pets: expect.any(Number) }],
  ])('lets a read be sent three times, and counts as a failure from the second: %i', async (breakAfterFailures, most, refused) => {
    const sent: Record<string, number> = {};
    const close = closeEverySecond(reset);
    const respond: Respond = (socket, attempt, head) => {
      const [key = ''] = /Bearer \w+/.exec(head) ?? [];
      sent[key] = (sent[key] ?? 0) + 1;
      close(socket, attempt, head);
    };
    await using rest = await startRest(respond, { ...one, breakAfterFailures });
    // One connection, which is taken over by the next call while one fails.
    await Promise.allSettled(Array.from({ length: 20 }, (_, index) => rest.list(`k${index}`)));
    expect(Math.max(...Object.values(sent))).toBe(most);
    const open = await valuesOf(rest.metrics, 'petstore_rest_refused_keys', 'service');
    expect(open).toEqual(refused);
  });

  it('leaves the outcome of a write unknown', async () => {
    await using rest = await startRest(closeEverySecond(reset), one);
    await rest.list();
    await expect(rest.add()).rejects.toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(rest.attempts()).toBe(2);
  });

  /** Opens a service that responds to writes like this. `add` sends one as the kept connection closes. */
  async function startClosing(respond: (socket: Socket) => void) {
    let kept: Socket | undefined;
    const rest = await startRest((socket, _attempt, head) => {
      kept = socket;
      if (head.startsWith('POST')) respond(socket);
      else socket.write(pets);
    }, one);
    return {
      ...rest,
      async add() {
        await rest.list();
        // undici writes to a kept connection only after it has read from it once more.
        const write = rest.add();
        kept?.resetAndDestroy();
        return write;
      },
    };
  }

  it('leaves the outcome of a write unknown that is lost when it is repeated', async () => {
    await using rest = await startClosing(reset);
    await expect(rest.add()).rejects.toMatchObject({ writeOutcome: 'UNKNOWN' });
    expect(rest.attempts()).toBe(2);
    expect(await repetitions(rest)).toEqual({ connectionClosed: 1 });
  });

  it('repeats a write that was never written to it', async () => {
    await using rest = await startClosing((socket) => socket.write(added));
    for (let index = 0; index < 5; index++) expect(await rest.add()).toMatchObject({ id: '1' });
    expect(rest.attempts()).toBe(10);
    expect(await repetitions(rest)).toEqual({ connectionClosed: 5 });
    expect(rest.logged).toEqual([]);
  });
});

describe('a connection', () => {
  it('is replaced when it is old, so that a service that moves is followed', async () => {
    const sockets = new Set<Socket>();
    const respond = (socket: Socket) => sockets.add(socket) && socket.write(pets);
    await using rest = await startRest(respond, { maxConnectionAgeMs: 20 });
    await vi.waitFor(async () => {
      expect(await rest.list()).toEqual([]);
      expect(sockets.size).toBe(3);
    });
  });

  it.each([
    ['when it is idle for that time', 20, () => {}],
    ['with the backend', 600_000, (rest: AsyncDisposable) => rest[Symbol.asyncDispose]()],
  ])('is closed %s, even if the service would keep it longer', async (_, maxConnectionAgeMs, end) => {
    let kept: Socket | undefined;
    const respond = (socket: Socket) => {
      kept = socket;
      socket.write(encodeResponse('200 OK', '[]', ['Keep-Alive: timeout=300']));
    };
    await using rest = await startRest(respond, { maxConnectionAgeMs });
    await rest.list();
    await end(rest.petStore);
    await vi.waitFor(() => expect(kept?.closed).toBe(true));
  });

  it('starts without the age of the one before it', async () => {
    const heads: string[] = [];
    const closed: Promise<unknown>[] = [];
    const respond: Respond = (socket, _attempt, head) => {
      heads.push(head);
      closed.push(once(socket, 'close'));
      socket.write(pets, () => setTimeout(() => socket.end(), 30));
    };
    await using rest = await startRest(respond, { ...one, maxConnectionAgeMs: 20 });
    for (let index = 0; index < 3; index++) {
      await rest.list();
      await closed[index];
    }
    for (const head of heads) expect(head).toMatch(/connection: keep-alive/i);
  });

  it('does not give an unsolicited response to the next call', async () => {
    const theirs = encodeResponse('200 OK', '[{"id":666,"name":"theirs","categoryId":1}]');
    await using rest = await startRest((socket, attempt) =>
      socket.write(attempt === 1 ? Buffer.concat([pets, theirs]) : pets),
    );
    for (const _ of [1, 2, 3]) expect(await rest.list()).toEqual([]);
  });
});
