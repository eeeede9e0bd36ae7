import { describe, expect, it } from 'vitest';
import { escapeControls, formatForTerminal } from '../../src/telemetry/terminal.ts';

describe('a log line on a terminal', () => {
  it('starts with the time, the level and the message, and ends with the ids', () => {
    const line = JSON.stringify({
      level: 'info',
      time: '2026-11-20T10:00:00.123Z',
      requestId: 'a-1',
      operation: 'query ListPets',
      codes: [],
      ms: 1.5,
      calls: [{ operation: 'listPets', status: 200 }],
      msg: 'request',
    });
    expect(formatForTerminal(line)).toBe(
      '10:00:00.123 INFO  request operation=query ListPets ms=1.5 calls=[{"operation":"listPets","status":200}] requestId=a-1\n',
    );
  });

  it('escapes what breaks a line, or changes the direction of text', () => {
    const points = [0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069];
    for (const point of points) {
      const escaped = `\\u${point.toString(16).padStart(4, '0')}`;
      expect(escapeControls(String.fromCodePoint(point))).toBe(escaped);
    }
  });

  it('escapes control characters in every part of the line', () => {
    const line = JSON.stringify({
      level: 'warn',
      time: '2026-11-20T10:00:00.123Z',
      code: 'a\u001b[2Jb',
      hidden: { message: 'c\u009b31md\u007f' },
      'na\u0007me': 'line\nline\rline',
      msg: 'REST\u202e error',
    });
    expect(formatForTerminal(`${line}\n`)).toBe(
      '10:00:00.123 WARN  REST\\u202e error code=a\\u001b[2Jb hidden={"message":"c\\u009b31md\\u007f"} na\\u0007me=line\\u000aline\\u000dline\n',
    );
  });
});
