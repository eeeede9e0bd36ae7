import { expect, it } from 'vitest';
import { summarise } from '../../bench/cpu-profile.ts';

const frame = (id: number, functionName: string, url = '', lineNumber = 0) => ({
  id,
  callFrame: { functionName, url, lineNumber },
});

it('summarises a profile by function and by package, without idle time and the warm-up', () => {
  const profile = {
    nodes: [
      frame(1, '(idle)'),
      frame(2, '(garbage collector)'),
      frame(3, 'writev'),
      frame(4, 'parse', 'file:///home/me/gateway/node_modules/@scope/name/lib/parse.js', 9),
      frame(5, '', 'file:///home/me/gateway/src/server/listen.ts', 48),
      frame(6, 'emit', 'node:events', 488),
      frame(7, 'emit', 'node:events', 488),
    ],
    samples: [4, 1, 2, 3, 4, 5, 6, 7],
    timeDeltas: [5000, 90, 10, 20, 40, 10, 10, 10],
  };
  const { functions, packages } = summarise(profile, 5);
  expect(functions.map(({ name, share }) => [name, share])).toEqual([
    ['parse  @scope/name/lib/parse.js:10', 0.4],
    ['writev', 0.2],
    ['emit  node:events:489', 0.2],
    ['(garbage collector)', 0.1],
    ['(anonymous)  src/server/listen.ts:49', 0.1],
  ]);
  expect(packages.map(({ name }) => name)).toEqual([
    '@scope/name',
    'native',
    'node',
    '(garbage collector)',
    'src/server',
  ]);
});
