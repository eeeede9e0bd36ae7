import { describe, expect, it } from 'vitest';
import { ApiKey } from '../../src/keys/api-key.ts';
import { nextTurn, waitForTurn } from '../../src/limits/turns.ts';
import { countTurns } from '../support/turns.ts';

function keyOf(name: string, isAccepted: boolean): ApiKey {
  return Object.assign(new ApiKey(name), { isAccepted });
}

/** Lets work of these keys wait, in this order. Resolves to the order in which it was done. */
async function orderOf(keys: readonly ApiKey[]): Promise<string[]> {
  const done: string[] = [];
  const wait = async (key: ApiKey) => {
    await nextTurn({ key });
    done.push(key.credential);
  };
  await Promise.all(keys.map(wait));
  return done;
}

const times = (count: number, key: ApiKey) => Array.from({ length: count }, () => key);

describe('turns', () => {
  const [a, b] = [keyOf('a', true), keyOf('b', true)];
  const [none, unknown] = [keyOf('', false), keyOf('unknown', false)];

  it('are one in each turn of the event loop', async () => {
    using counted = countTurns();
    const turns: number[] = [];
    const wait = () => nextTurn({ key: a }).then(() => turns.push(counted.turns));
    await Promise.all(Array.from({ length: 10 }, wait));
    expect(new Set(turns).size).toBe(10);
  });

  it('go to the keys in turn', async () => {
    expect((await orderOf([...times(4, a), ...times(2, b)])).join('')).toBe('ababaa');
    const order = await orderOf([...times(4, none), ...times(2, unknown)]);
    expect(order).toEqual(['', 'unknown', '', 'unknown', '', '']);
  });

  it('go to accepted keys at least every second time, and to the others as well', async () => {
    const bogus = Array.from({ length: 50 }, (_, index) => keyOf(`bogus${index}`, false));
    const order = await orderOf([...times(50, none), ...bogus, ...times(20, a), ...times(5, b)]);
    const isOf = (name: string) => name === 'a' || name === 'b';
    // The first is for either side.
    for (let index = 1; index < 49; index += 2) {
      expect(order.slice(index, index + 2).filter(isOf)).toHaveLength(1);
    }
    expect(order.filter(isOf).slice(0, 10).join('')).toBe('ababababab');
  });

  it('count a key that is accepted while it waits among the accepted ones', async () => {
    const late = keyOf('late', false);
    const order = orderOf([...times(50, none), ...times(10, late)]);
    late.isAccepted = true;
    expect((await order).slice(0, 20).filter((name) => name === 'late').length).toBe(10);
  });

  it('are not waited for by a caller that is cancelled', async () => {
    const caller = {
      key: a,
      cancelled: undefined as Error | undefined,
      cancel: () => {},
      whenCancelled(end: () => void) {
        this.cancel = end;
      },
    };
    const done: string[] = [];
    const waits = nextTurn(caller).then(() => done.push('cancelled'));
    const leave = waitForTurn(a, () => done.push('removed'));
    const other = nextTurn({ key: b }).then(() => done.push('other'));
    caller.cancelled = new Error('It left.');
    caller.cancel();
    leave();
    await expect(waits).rejects.toBe(caller.cancelled);
    await other;
    await expect(nextTurn(caller)).rejects.toBe(caller.cancelled);
    await nextTurn({ key: a });
    expect(done).toEqual(['other']);
  });

  it('are not taken by callers that are cancelled', async () => {
    using counted = countTurns();
    const caller = { key: a, whenCancelled: (end: () => void) => queueMicrotask(end) };
    const left = Promise.allSettled(Array.from({ length: 20 }, () => nextTurn(caller)));
    await nextTurn({ key: a });
    expect(counted.turns).toBeLessThan(10);
    expect(new Set((await left).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});
