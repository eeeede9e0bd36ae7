import type { ExecutionResult } from 'graphql';
import { expect } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import { typedError } from '../../src/graphql/errors.ts';

/**
 * Everything that two executors must agree on: the serialised data, and the message, path,
 * locations and typed form of each error. Errors are sorted because fields run concurrently.
 */
export function comparable({ data, errors = [] }: ExecutionResult) {
  const request = { requestId: 'test', isMutation: false };
  const described = errors.map((error) => {
    const { message, path, locations, extensions } = error;
    const causes: unknown[] = [];
    const typed = typedError(error, request, (cause) => causes.push(String(cause)));
    return written({ message, path, locations, extensions, typed, causes });
  });
  return { data: written(data), errors: described.sort() };
}

/**
 * Asserts that a result equals that of graphql-js. If a non-null root field fails, `data` is null
 * immediately, and errors of fields in flight may be missing (GraphQL specification, section 6.4.4).
 * Then one list of errors must contain the other.
 */
export function expectSameResult(
  result: ExecutionResult,
  graphqlJsResult: ExecutionResult,
  text: string,
) {
  const own = comparable(result);
  const expected = comparable(graphqlJsResult);
  const [fewer, more] =
    own.errors.length < expected.errors.length ? [own, expected] : [expected, own];
  if (result.data !== null || fewer.errors.length === 0) return expect(own, text).toEqual(expected);
  expect(own.data, text).toBe(expected.data);
  expect(more.errors, text).toEqual(expect.arrayContaining(fewer.errors));
}

/** Serialises a value as JSON, including values that JSON omits or rejects. */
export function written(value: unknown): string | undefined {
  return JSON.stringify(value, (_, item) => {
    if (item instanceof JsonText) return JSON.parse(item.text);
    if (typeof item === 'bigint') return `${item}n`;
    if (typeof item === 'function') return 'function';
    if (item === undefined) return 'undefined';
    return typeof item === 'symbol' ? String(item) : item;
  });
}
