import { expect, it, vi } from 'vitest';
import { createLog } from '../../src/telemetry/log.ts';
import { createRefusalLog } from '../../src/telemetry/refusal-log.ts';

it('logs the first refused request immediately, and later ones as a count', async () => {
  const lines: unknown[] = [];
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  const refuse = createRefusalLog(log, 50);
  const line = (refused: number) =>
    expect.objectContaining({
      level: 'warn',
      refused,
      msg: 'overloaded: requests were refused with 503',
    });
  for (let count = 0; count < 5; count++) refuse();
  expect(lines).toEqual([line(1)]);
  await vi.waitFor(() => expect(lines).toEqual([line(1), line(4)]));
});
