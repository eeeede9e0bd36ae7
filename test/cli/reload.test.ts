import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { reloadOnHangup } from '../../src/cli/reload.ts';
import { quiet } from '../support/log.ts';

it('reloads once for each SIGHUP, one after the other', async () => {
  const events: string[] = [];
  const reload = async () => {
    events.push('begins');
    await setImmediate();
    events.push('ends');
  };
  const others = process.listeners('SIGHUP');
  onTestFinished(() => {
    const added = process.listeners('SIGHUP').filter((one) => !others.includes(one));
    for (const one of added) process.off('SIGHUP', one);
  });
  reloadOnHangup({}, quiet.log, reload, () => {});
  for (const _ of [1, 2, 3]) process.emit('SIGHUP');
  await vi.waitFor(() => expect(events).toHaveLength(6));
  expect(events).toEqual(Array(3).fill(['begins', 'ends']).flat());
});
