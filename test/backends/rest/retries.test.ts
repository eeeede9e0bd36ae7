import { describe, expect, it, vi } from 'vitest';
import { encodeResponse } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { valuesOf } from '../../support/metrics.ts';

const pets = encodeResponse('200 OK', '[]');
const busy = encodeResponse('503 Busy', '');
const first = { name: 'ErrorResponse', status: 503 };

describe('a retry', () => {
  it.each([
    ['refused', { breakAfterFailures: 1 }, 1],
    ['lost', {}, 2],
  ])('that is %s leaves the caller with the first response', async (_, limits, attempts) => {
    await using rest = await startRest(
      (socket, attempt) => (attempt === 1 ? socket.write(busy) : socket.resetAndDestroy()),
      limits,
    );
    await expect(rest.list()).rejects.toMatchObject(first);
    expect(rest.attempts()).toBe(attempts);
  });

  it('waits as long as Retry-After says', async () => {
    const times: number[] = [];
    await using rest = await startRest((socket, attempt) => {
      times.push(performance.now());
      socket.write(attempt > 1 ? pets : encodeResponse('503 Busy', '', ['Retry-After: 1']));
    });
    expect(await rest.list()).toEqual([]);
    const [sent = 0, sentAgain = 0] = times;
    expect(sentAgain - sent).toBeGreaterThan(990);
  });

  it('does not happen if the deadline is earlier than Retry-After, which is not waited for', async () => {
    const after = encodeResponse('503 Busy', '', ['Retry-After: 60']);
    await using rest = await startRest((socket) => socket.write(after), {}, 50_000);
    await expect(rest.list()).rejects.toMatchObject({ ...first, retryAfterMs: 60_000 });
    expect(rest.attempts()).toBe(1);
  });
});

describe('retries', () => {
  /** Opens a service that responds with 503 to each call, and holds its retry until the test responds. */
  async function startBusy() {
    const seen = new Set<string | undefined>();
    const held: (() => void)[] = [];
    const rest = await startRest((socket, _attempt, head) => {
      const id = /x-request-id: (\S+)/.exec(head)?.[1];
      if (seen.has(id)) held.push(() => socket.write(pets));
      else socket.write(busy);
      seen.add(id);
    });
    let id = 0;
    const list = (key: string) =>
      rest.petStore.listPets(Object.assign(callWith(key), { requestId: `${++id}` }), {});
    return {
      ...rest,
      list,
      /** Waits until this many retries have arrived. */
      holds: (count: number) => vi.waitFor(() => expect(held).toHaveLength(count)),
      respond: () => held.splice(0).map((respond) => respond()),
      refused: () => valuesOf(rest.metrics, 'petstore_limit_refused_total', 'limit', 'by'),
    };
  }

  it('of one key are made five at a time, and ten in all; those that end give their place back', async () => {
    await using rest = await startBusy();
    const all = Array.from('aaaaabbbbb', rest.list);
    await rest.holds(10);
    await expect(rest.list('c')).rejects.toMatchObject(first);
    expect(await rest.refused()).toEqual({ 'pets_retries all': 1 });
    rest.respond();
    expect(await Promise.all(all)).toHaveLength(10);
    const more = Array.from('aaaaa', rest.list);
    await rest.holds(5);
    await expect(rest.list('a')).rejects.toMatchObject(first);
    expect(await rest.refused()).toMatchObject({ 'pets_retries key': 1 });
    rest.respond();
    expect(await Promise.all(more)).toHaveLength(5);
  });
});
