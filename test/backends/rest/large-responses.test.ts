import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { waitForTurn } from '../../../src/limits/turns.ts';
import { encodeResponse } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { valuesOf } from '../../support/metrics.ts';
import { holdTurns } from '../../support/turns.ts';
import { onUndici } from './undici-events.ts';

const rex = { name: 'Rex', categoryId: '2' };
const list = `[${' '.repeat(99_998)}]`;
const pet = `{"id":1,"name":"Rex","categoryId":2${' '.repeat(100_000)}}`;
const encoded = encodeResponse('201 Created', gzipSync(pet), ['Content-Encoding: gzip']);
/** In milliseconds. On a busy machine, a response may take a second to arrive. */
const timeoutMs = 2000;
const late = { name: 'BackendTimeoutError', message: expect.stringContaining('be read in time') };

/** Expects that nothing is used of any limit, and that no circuit has counted a failure. */
async function expectUnused({ metrics }: Awaited<ReturnType<typeof startRest>>) {
  await vi.waitFor(async () =>
    expect(await valuesOf(metrics, 'petstore_limit_used', 'limit')).toEqual({}),
  );
}

describe('a complete response that waits for its turn', () => {
  it('counts within the deadline of a read', async () => {
    const large = encodeResponse('200 OK', list);
    await using rest = await startRest((socket) => socket.write(large), {}, timeoutMs);
    const caller = callWith('k');
    using _held = holdTurns(caller.key);
    await expect(rest.petStore.listPets(caller, {})).rejects.toMatchObject(late);
    await expectUnused(rest);
  });

  it.each([
    ['large', encodeResponse('201 Created', pet)],
    ['encoded', encoded],
  ])('counts within the deadline of a write, which was done: %s', async (_, response) => {
    const respond = (socket: Socket) => socket.write(response);
    await using rest = await startRest(respond, { breakAfterFailures: 1 }, timeoutMs);
    const caller = callWith('k');
    {
      using _held = holdTurns(caller.key);
      const done = { ...late, writeOutcome: 'DONE' };
      await expect(rest.petStore.createPet(caller, rex)).rejects.toMatchObject(done);
      await expectUnused(rest);
    }
    expect(await rest.petStore.createPet(caller, rex)).toMatchObject({ name: 'Rex' });
  });

  it('is that of one retry, which replaces the failure before it', async () => {
    const responses = [encodeResponse('503 Oops', ''), encodeResponse('200 OK', list)];
    const respond = (socket: Socket) => socket.write(responses.shift() ?? '');
    await using rest = await startRest(respond, {}, timeoutMs);
    const caller = callWith('k');
    using _held = holdTurns(caller.key);
    await expect(rest.petStore.listPets(caller, {})).rejects.toMatchObject(late);
    expect(caller.calls).toMatchObject([{ retries: 1 }]);
  });

  it('is not read for a caller that leaves, or whose own deadline passes', async () => {
    await using rest = await startRest((socket, _, head) =>
      socket.write(head.startsWith('GET') ? encodeResponse('200 OK', list) : encoded),
    );
    const reader = callWith('k');
    const writer = callWith('k');
    const held = holdTurns(reader.key);
    const atEnd = (end: () => void) => onUndici('request:trailers', () => queueMicrotask(end));
    {
      using _left = atEnd(() => reader.cancel());
      const cancelled = { name: 'CancelledError' };
      await expect(rest.petStore.listPets(reader, {})).rejects.toMatchObject(cancelled);
    }
    await expectUnused(rest);
    // Nothing of it delays what its key needs next.
    held[Symbol.dispose]();
    const order: string[] = [];
    const { promise: hasTurn, resolve } = Promise.withResolvers<unknown>();
    waitForTurn(reader.key, () => resolve(order.push('reader')));
    waitForTurn(callWith('other').key, () => order.push('other'));
    await hasTurn;
    expect(order).toEqual(['reader']);
    using _held = holdTurns(writer.key);
    using _passed = atEnd(() => writer.cancel('deadline'));
    const done = { ...late, writeOutcome: 'DONE' };
    await expect(rest.petStore.createPet(writer, rex)).rejects.toMatchObject(done);
  });
});
