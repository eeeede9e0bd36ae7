import { describe, expect, it } from 'vitest';
import { readable } from '../../src/telemetry/readable.ts';

describe('a readable log line', () => {
  it('starts with the time, the level and the message', () => {
    const line = JSON.stringify({
      level: 'info',
      time: '2026-11-20T10:00:00.123Z',
      operation: 'query ListPets',
      codes: [],
      ms: 1.5,
      calls: [{ operation: 'listPets', status: 200 }],
      msg: 'request',
    });
    expect(readable(line)).toBe(
      '10:00:00.123 INFO  request operation=query ListPets ms=1.5 calls=[{"operation":"listPets","status":200}]\n',
    );
  });

  it('is what it was when it is no JSON', () => {
    expect(readable('oops\n')).toBe('oops\n');
  });
});
