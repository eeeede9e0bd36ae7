import { expect, it, onTestFinished, vi } from 'vitest';
import { parseRetryAfter } from '../../../src/backends/rest/response.ts';

// A timer accepts no more.
const mostMs = 2 ** 31 - 1;

it.each([
  ['7', 7000],
  ['Fri, 20 Nov 2026 10:01:00 GMT', 60_000],
  ['Friday, 20-Nov-26 10:01:00 GMT', 60_000],
  ['Fri Nov 20 10:01:00 2026', 60_000],
  ['Fri, 20 Nov 2026 09:59:00 GMT', 0],
  ['2147484', mostMs],
  ['99999999999999999999', mostMs],
  ['Fri, 01 Jan 2999 00:00:00 GMT', mostMs],
  [' 7\t', 7000],
  ['\tFri, 20 Nov 2026 10:01:00 GMT ', 60_000],
  ['1.5', 2000],
  ['.2', 1000],
  ['7.', 7000],
  ['0.0', 0],
  ['+3', 3000],
  ['1e1', 10_000],
  ['1e999', mostMs],
  ['1.5.2', undefined],
  ['1,5', undefined],
  ['0x10', undefined],
  [' ', undefined],
  ['Infinity', undefined],
  ['-0.5', undefined],
  [['7', '7 '], 7000],
  [['7', '8'], undefined],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-1', undefined],
  ['Fri, 20 Nov 2026 10:01:00 GMT, and later', undefined],
])('Retry-After (RFC 9110, section 5.6.7): %j is %s milliseconds', (header, ms) => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20, 10) });
  expect(parseRetryAfter(header)).toBe(ms);
});
