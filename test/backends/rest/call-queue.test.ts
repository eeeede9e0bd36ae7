import { expect, it } from 'vitest';
import { CallQueue } from '../../../src/backends/rest/call-queue.ts';
import { Cancellation } from '../../../src/backends/rest/cancellation.ts';
import type { Release } from '../../../src/limits/share.ts';

/** Opens a queue of calls that are named, and records their names in order of their start. */
function openQueue(maxConnections: number, maxWaiting = 100) {
  const queue = new CallQueue('pets', { maxConnections, maxWaiting });
  const started: string[] = [];
  const places = new Map<string, Release>();
  return {
    queue,
    started,
    /** Lets a call enter. Returns its cancellation, and its refusal if there is one. */
    enter(name: string, key: number, deadlineAt = Number.POSITIVE_INFINITY) {
      const cancellation = new Cancellation(false, deadlineAt);
      const entered = queue.enter(key, cancellation);
      const start = (place: Release | undefined) => {
        if (place === undefined) return;
        started.push(name);
        places.set(name, place);
      };
      if (entered instanceof Promise) return { cancellation, waiting: entered.then(start) };
      if (typeof entered === 'string') return { cancellation, refused: entered };
      start(entered);
      return { cancellation };
    },
    leave: (name: string) => queue.leave(places.get(name) as Release),
  };
}

it('lets one key use three quarters of the places, in flight and waiting', () => {
  const calls = openQueue(4, 4);
  const refusals = (key: number) =>
    Array.from({ length: 7 }, (_, index) => calls.enter(`${key}-${index}`, key).refused);
  expect(refusals(1)).toEqual([...Array(6), 'keyQueueFull']);
  expect(calls.started).toEqual(['1-0', '1-1', '1-2']);
  expect(refusals(2)).toEqual([undefined, undefined, ...Array(5).fill('queueFull')]);
  expect(calls.started).toContain('2-0');
  expect([calls.queue.inFlight.used, calls.queue.waiting.used]).toEqual([4, 4]);
});

it('starts the calls of all keys one after the other, and those of each in order', async () => {
  const calls = openQueue(1);
  const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'];
  const entered = new Map(names.map((name) => [name, calls.enter(name, name.charCodeAt(0))]));
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
  for (const [index, name] of order.entries()) {
    await entered.get(name)?.waiting;
    expect(calls.started).toEqual(order.slice(0, index + 1));
    calls.leave(name);
  }
  expect([calls.queue.inFlight.used, calls.queue.waiting.used]).toEqual([0, 0]);
});

it('passes over a key that has all its calls in flight', async () => {
  const calls = openQueue(4);
  const [a1, a2, a3, a4] = ['a1', 'a2', 'a3', 'a4'].map((name) => calls.enter(name, 1));
  calls.enter('b1', 2);
  const b2 = calls.enter('b2', 2);
  calls.leave('b1');
  await b2.waiting;
  expect(calls.started).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  calls.leave('a2');
  await a4?.waiting;
  expect(calls.started.at(-1)).toBe('a4');
  expect([a1, a2, a3].map((call) => call?.waiting)).toEqual([undefined, undefined, undefined]);
});

it('drops a cancelled call at once', async () => {
  const calls = openQueue(1);
  calls.enter('a1', 1);
  const [a2, a3] = [calls.enter('a2', 1), calls.enter('a3', 1)];
  a2.cancellation.cancel('client');
  expect(calls.queue.waiting.used).toBe(1);
  await a2.waiting;
  calls.leave('a1');
  await a3.waiting;
  expect(calls.started).toEqual(['a1', 'a3']);
  expect([calls.queue.inFlight.used, calls.queue.waiting.used]).toEqual([1, 0]);
});

it('never starts a call whose deadline has passed, even before its timer fires', async () => {
  const calls = openQueue(1);
  calls.enter('a1', 1);
  // No timer cancels these calls.
  const deadlineAt = performance.now() + 1;
  const late = [calls.enter('a2', 1, deadlineAt), calls.enter('b1', 2, deadlineAt)];
  const next = calls.enter('c1', 3);
  while (performance.now() < deadlineAt);
  calls.leave('a1');
  await Promise.all([...late, next].map(({ waiting }) => waiting));
  expect(calls.started).toEqual(['a1', 'c1']);
  for (const { cancellation } of late) {
    expect(cancellation.outcome(false)).toEqual({ why: 'deadline' });
  }
  expect([calls.queue.inFlight.used, calls.queue.waiting.used]).toEqual([1, 0]);
});
