import { describe, expect, it } from 'vitest';
import { type Attempt, type RetryOptions, retryDelay } from '../../../packages/client/src/index.ts';

const failed = (code: string, extensions: object = {}, path?: readonly (string | number)[]) => ({
  message: 'Failed.',
  ...(path && { path }),
  extensions: { code, ...extensions },
});
const busy = failed('OVERLOADED', { status: 503, retryAfterMs: 1000, outcome: 'NOT_DONE' });
const limited = failed('RATE_LIMITED', { status: 429, outcome: 'NOT_DONE' }, ['addPet']);
const notFound = failed('NOT_FOUND', { status: 404 }, ['pet']);

/** Returns the delay for the largest random number, which is the longest. */
const longest = (attempt: Partial<Attempt>, options?: RetryOptions) =>
  retryDelay({ kind: 'query', attempt: 1, ...attempt }, options, () => 1);
const afterErrors = (kind: Attempt['kind'], errors: readonly unknown[], data?: unknown) =>
  longest({ kind, response: { data, errors } });

describe('the delay before a query is repeated', () => {
  it.each([
    'RATE_LIMITED',
    'OVERLOADED',
    'GATEWAY_CLOSED',
    'UPSTREAM_UNAVAILABLE',
    'UPSTREAM_TIMEOUT',
  ])('exists after %s', (code) => expect(afterErrors('query', [failed(code)])).toBe(250));

  it.each([
    ['no error', undefined],
    ['an empty list of errors', []],
    ['errors that are not a list', 'broken'],
    ['NOT_FOUND', [notFound]],
    ['UPSTREAM_ERROR', [failed('UPSTREAM_ERROR', { status: 503, retryAfterMs: 10 })]],
    ['BAD_USER_INPUT', [failed('BAD_USER_INPUT')]],
    ['NOT_CONFIGURED', [failed('NOT_CONFIGURED', { outcome: 'NOT_DONE' })]],
    ['an outcome that stays unknown', [failed('UPSTREAM_TIMEOUT', { retryable: false })]],
    ['an error of another server', [{ message: 'No.' }, null]],
  ])('does not exist after %s', (_, errors) => {
    expect(longest({ response: { data: null, errors } })).toBeUndefined();
  });

  it('exists if one of several errors is transient', () => {
    expect(afterErrors('query', [notFound, limited], { pet: null, pets: [] })).toBe(250);
  });

  it('exists after a network error, unless the caller has ended the request', () => {
    expect(longest({ networkError: new TypeError('fetch failed') })).toBe(250);
    for (const name of ['AbortError', 'TimeoutError']) {
      expect(longest({ networkError: new DOMException('', name) })).toBeUndefined();
    }
  });

  it('exists after a response of a proxy only with 502, 503 or 504', () => {
    const statuses = [200, 401, 404, 413, 429, 500, 502, 503, 504];
    const repeated = statuses.filter((status) => longest({ status }) !== undefined);
    expect(repeated).toEqual([502, 503, 504]);
    expect(longest({ kind: 'mutation', status: 503 })).toBeUndefined();
  });

  it('does not exist if the signal of the caller is aborted', () => {
    const response = { errors: [failed('UPSTREAM_TIMEOUT', { status: 504 }, ['pets'])] };
    const [open, ended] = [new AbortController().signal, AbortSignal.abort()];
    expect(longest({ response, signal: open })).toBe(250);
    expect(longest({ response, signal: ended })).toBeUndefined();
  });

  it('doubles, is random, and ends with the last attempt', () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => longest({ attempt }, { maxAttempts: 5 }));
    expect(delays).toEqual([250, 500, 1000, 2000, undefined]);
    expect(longest({ attempt: 3 })).toBeUndefined();
    expect(retryDelay({ kind: 'query', attempt: 1 }, {}, () => 0.5)).toBe(125);
    const random = Array.from({ length: 100 }, () => retryDelay({ kind: 'query', attempt: 1 }));
    expect(new Set(random).size).toBeGreaterThan(90);
  });

  it('is at least retryAfterMs, and at most maxDelayMs', () => {
    const wait = (retryAfterMs: unknown, random: number, options?: RetryOptions) =>
      retryDelay(
        {
          kind: 'query',
          attempt: 1,
          response: { errors: [busy, failed('OVERLOADED', { retryAfterMs })] },
        },
        options,
        () => random,
      );
    expect([wait(3000, 0), wait(3000, 1)]).toEqual([3000, 3250]);
    expect(wait(9900, 1)).toBe(10_000);
    expect(wait(10_001, 0)).toBeUndefined();
    expect(wait(3000, 0, { maxDelayMs: 2999 })).toBeUndefined();
    for (const odd of [undefined, null, 'soon', -5, Number.NaN]) expect(wait(odd, 0)).toBe(1000);
    expect(longest({ attempt: 9 }, { maxAttempts: 10 })).toBe(10_000);
  });
});

describe('the delay before a mutation is repeated', () => {
  it('exists if every field failed and was not done', () => {
    expect(afterErrors('mutation', [limited], { addPet: null })).toBe(250);
    expect(afterErrors('mutation', [limited], { __typename: 'Mutation', addPet: null })).toBe(250);
    expect(afterErrors('mutation', [limited], null)).toBe(250);
  });

  it('exists if the gateway refused the request', () => {
    expect(afterErrors('mutation', [busy])).toBe(1250);
  });

  const done = { id: '1' };
  it.each([
    ['the outcome is UNKNOWN', [failed('UPSTREAM_TIMEOUT', { outcome: 'UNKNOWN' })], undefined],
    ['the outcome is DONE', [failed('RATE_LIMITED', { outcome: 'DONE' })], undefined],
    ['an error has no outcome', [failed('UPSTREAM_UNAVAILABLE')], undefined],
    [
      'one of two outcomes is UNKNOWN',
      [limited, failed('RATE_LIMITED', { outcome: 'UNKNOWN' })],
      undefined,
    ],
    [
      'one of two errors is not transient',
      [limited, failed('BAD_USER_INPUT', { outcome: 'NOT_DONE' })],
      undefined,
    ],
    ['another field was done', [limited], { first: done, addPet: null }],
    ['a field that is named __typename was done', [limited], { __typename: done, addPet: null }],
    ['there are no errors', [], { addPet: null }],
  ])('does not exist if %s', (_, errors, data) => {
    expect(afterErrors('mutation', errors, data)).toBeUndefined();
  });

  it('is that of a query with an Idempotency-Key, because nothing is done twice', () => {
    const keyed = { kind: 'mutation', hasIdempotencyKey: true } as const;
    const unknown = failed('UPSTREAM_TIMEOUT', { outcome: 'UNKNOWN' }, ['addPet']);
    expect(longest({ ...keyed, networkError: new TypeError('fetch failed') })).toBe(250);
    expect(longest({ ...keyed, status: 502 })).toBe(250);
    expect(longest({ ...keyed, response: { errors: [unknown], data: { first: done } } })).toBe(250);
    expect(longest({ ...keyed, response: { errors: [notFound] } })).toBeUndefined();
    expect(longest({ ...keyed, kind: 'subscription' })).toBeUndefined();
  });

  it('does not exist after a network error', () => {
    const networkError = new TypeError('fetch failed');
    for (const kind of ['mutation', 'subscription'] as const) {
      expect(longest({ kind, networkError })).toBeUndefined();
      expect(longest({ kind })).toBeUndefined();
    }
  });
});
