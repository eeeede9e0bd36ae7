import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/telemetry/log.ts';

function linesOf(
  level: 'warn' | 'info' | 'debug',
  write: (log: ReturnType<typeof createLog>) => void,
) {
  const lines: string[] = [];
  write(createLog(level, { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

describe('the log', () => {
  it('never contains an API key, at any depth of the logged object', () => {
    const call = { apiKey: 'k-secret', authorization: 'Bearer k-secret', requestId: 'r' };
    const lines = linesOf('info', (log) => {
      log.info(call, 'flat');
      log.info({ call }, 'nested');
    });
    expect(JSON.stringify(lines)).not.toContain('k-secret');
    expect(lines).toMatchObject([{ requestId: 'r' }, { call: { requestId: 'r' } }]);
  });

  it('has requests at level info', () => {
    const request = (log: ReturnType<typeof createLog>) => log.request({ requestId: 'r' });
    expect(linesOf('info', request)).toMatchObject([{ level: 'info', requestId: 'r' }]);
    expect(linesOf('warn', request)).toEqual([]);
  });

  it('includes the stack of an error only at level debug', () => {
    const error = Object.assign(new TypeError('broken'), { code: 'E1', path: '/srv/app' });
    const [line] = linesOf('info', (log) => log.error({ err: error }, 'oops'));
    expect(line).toMatchObject({
      level: 'error',
      err: { name: 'TypeError', message: 'broken', code: 'E1' },
    });
    expect(JSON.stringify(line)).not.toMatch(/\.ts|\/srv/);
    const [debug] = linesOf('debug', (log) => log.error({ err: error }, 'oops'));
    expect(debug.err.stack).toMatch(/log\.test\.ts/);
  });
});
