import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseRetryAfter, readError } from '../../../src/backends/rest/response.ts';
import { ErrorResponse } from '../../../src/contract/error.ts';

describe('the error of a response', () => {
  it.each([
    [401, 'text/html', '', undefined],
    [400, 'application/json', '{"oops":1}', undefined],
    [500, 'application/json', '{"code":"x","message":"db at 10.0.0.1","status":500}', undefined],
    [
      422,
      'application/problem+json',
      '{"type":"https://e.example/name","title":"Bad","detail":"Name is taken."}',
      { code: 'https://e.example/name', message: 'Name is taken.', status: 422 },
    ],
  ])('keeps the status, and the body unless it is hidden: %i %s %s', (status, type, text, body) => {
    const headers = { 'content-type': type };
    const response = { status, headers, body: Buffer.from(text), releaseBody: undefined };
    const error = readError(response, 'a-key');
    expect(error).toBeInstanceOf(ErrorResponse);
    expect([error.status, error.body]).toEqual([status, body]);
    expect(error.message).toBe(body?.message ?? `The pet store returned HTTP status ${status}.`);
  });
});

describe('Retry-After (RFC 9110, section 5.6.7)', () => {
  afterEach(() => void vi.useRealTimers());
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
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['7 s', undefined],
    ['Fri, 20 Nov 2026 10:01:00 GMT, and later', undefined],
  ])('%j is %s milliseconds', (header, ms) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20, 10) });
    expect(parseRetryAfter(header)).toBe(ms);
  });
});
