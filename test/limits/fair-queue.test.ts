import { expect, it } from 'vitest';
import { FairQueue } from '../../src/limits/fair-queue.ts';

/** Creates a queue of `[key, item]` pairs. */
function queueOf(pairs: readonly (readonly [number, string])[]) {
  const queue = new FairQueue<string>();
  for (const [key, item] of pairs) queue.add(key, item);
  return queue;
}

function drain(queue: FairQueue<string>, mayServe?: (key: number) => boolean): string[] {
  const items: string[] = [];
  for (let item = queue.next(mayServe); item !== undefined; item = queue.next(mayServe)) {
    items.push(item);
  }
  return items;
}

it('serves keys one after the other, and the items of each in order of arrival', () => {
  const queue = queueOf([
    [1, 'a1'],
    [1, 'a2'],
    [1, 'a3'],
    [2, 'b1'],
    [2, 'b2'],
    [3, 'c1'],
  ]);
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect(queue.isEmpty).toBe(true);
});

it('passes over keys that may not be served, which keep their place', () => {
  const queue = queueOf([
    [1, 'a1'],
    [2, 'b1'],
    [2, 'b2'],
  ]);
  expect(drain(queue, (key) => key !== 1)).toEqual(['b1', 'b2']);
  queue.add(2, 'b3');
  expect(drain(queue)).toEqual(['a1', 'b3']);
});

it('forgets an item that no longer waits', () => {
  const queue = queueOf([
    [1, 'a1'],
    [1, 'a2'],
    [2, 'b1'],
  ]);
  queue.remove(1, 'a1');
  queue.remove(2, 'b1');
  // Neither removes anything.
  queue.remove(2, 'b1');
  queue.remove(1, 'b1');
  expect(drain(queue)).toEqual(['a2']);
});
