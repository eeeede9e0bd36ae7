import { expect, it } from 'vitest';
import { keepWrites } from '../../src/backends/write-redis.ts';
import { callWith } from '../support/gateway.ts';

it('is closed once Redis has confirmed the results of all writes', async () => {
  const events: string[] = [];
  const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
  const store = keepWrites(
    {
      isConnected: () => true,
      async run(script) {
        if (script === 'begin') return [Date.now(), false];
        await confirmed;
        return events.push('stored');
      },
      [Symbol.dispose]: () => void events.push('closed'),
    },
    1000,
  );
  const write = { fingerprint: 'f', carriedKey: false };
  await store.begin(callWith(), 'one', write);
  store.end('one', { ...write, result: '{}' });
  const disposed = store[Symbol.asyncDispose]();
  confirm();
  await disposed;
  expect(events).toEqual(['stored', 'closed']);
});
