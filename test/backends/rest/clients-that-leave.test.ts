import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { encodeResponse, type Respond } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { onUndici } from './undici-events.ts';

const pets = encodeResponse('200 OK', '[]');
const cancelled = { name: 'CancelledError' };

describe('a client that leaves', () => {
  it('while a body arrives counts neither against its key nor against the service', async () => {
    const part = encodeResponse('200 OK', '[', ['Content-Length: 500']);
    const respond: Respond = (socket, _attempt, head) =>
      socket.write(head.includes('Bearer stays') ? pets : part);
    await using rest = await startRest(respond, { breakAfterFailures: 2 });
    for (const key of ['a', 'a', 'a', 'b', 'c']) {
      const client = new AbortController();
      using _ = onUndici('request:headers', () => client.abort());
      await expect(rest.list(key, client.signal)).rejects.toMatchObject(cancelled);
    }
    expect(await rest.list('stays')).toEqual([]);
    expect(rest.logged).toEqual([]);
  });

  it.each([
    ['500', (socket: Socket) => socket.write(encodeResponse('500 Oops', '')), { status: 500 }],
    ['reset', (socket: Socket) => socket.resetAndDestroy(), { outcome: 'lost' }],
  ])('does not hide the failure of a write: %s', async (_, fail, entry) => {
    const client = new AbortController();
    await using rest = await startRest((socket) => {
      client.abort();
      fail(socket);
    });
    await expect(rest.add(client.signal)).rejects.not.toMatchObject(cancelled);
    const line = { requestId: 'test', operation: 'createPet', clientLeft: true, ...entry };
    expect(rest.logged.map((text) => JSON.parse(text))).toMatchObject([line]);
  });

  it('before its call, or while a write waits for a connection, sends nothing', async () => {
    const held: Socket[] = [];
    await using rest = await startRest((socket) => held.push(socket), { maxConnections: 1 });
    await expect(rest.add(AbortSignal.abort())).rejects.toMatchObject(cancelled);
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

  it('has the call of a read ended, and its place given to another', async () => {
    const held: Socket[] = [];
    const limits = { maxConnections: 1, headersTimeoutMs: 600_000 };
    await using rest = await startRest((socket) => held.push(socket), limits, 600_000);
    const client = new AbortController();
    const left = expect(rest.list('a', client.signal)).rejects.toMatchObject(cancelled);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const closed = once(held[0] as Socket, 'close');
    client.abort();
    await left;
    await closed;
    const next = rest.list('b');
    await vi.waitFor(() => expect(held).toHaveLength(2));
    held[1]?.write(pets);
    expect(await next).toEqual([]);
  });

  it('has its write finished when the gateway shuts down', async () => {
    const held: Socket[] = [];
    await using rest = await startRest((socket) => held.push(socket));
    const caller = callWith();
    const write = rest.petStore.createPet(caller, { name: 'Rex', categoryId: '1' });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    caller.cancel();
    const closed = rest.petStore[Symbol.asyncDispose]();
    await setImmediate();
    held[0]?.write(encodeResponse('201 Created', '{"id":1,"name":"Rex","categoryId":1}'));
    expect(await write).toMatchObject({ id: '1' });
    await closed;
  });

  it.each([
    ['before', (leave: () => void) => queueMicrotask(leave)],
    ['during', (leave: () => void) => setTimeout(leave, 20)],
  ])('%s the pause before a retry is not waited for, and its call not sent again', async (_, schedule) => {
    const busy = encodeResponse('503 Busy', '', ['Retry-After: 1']);
    await using rest = await startRest((socket) => socket.write(busy), { maxConnections: 1 });
    const client = new AbortController();
    {
      using _leaving = onUndici('request:trailers', () => schedule(() => client.abort()));
      await expect(rest.list('k', client.signal)).rejects.toMatchObject(cancelled);
    }
    expect(rest.attempts()).toBe(1);
    // The pause of this call ends later.
    await expect(rest.list('k')).rejects.toMatchObject({ status: 503 });
    expect(rest.attempts()).toBe(3);
    const { text } = await rest.metrics.scrape();
    expect(text).toContain('petstore_limit_used{limit="pets_retries"} 0');
  });
});
