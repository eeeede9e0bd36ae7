import { expect, it } from 'vitest';
import { InvalidResponseError } from '../../src/contract/error.ts';
import { readJson, readJsonText } from '../../src/contract/response-json.ts';

/** A list that is this many values, itself included. */
const listOf = (values: number) => `[${'0,'.repeat(values - 2)}0]`;

it.each([readJson, readJsonText])('a body has at most 250,000 values: %#', (read) => {
  expect(() => read(listOf(250_000))).not.toThrow();
  expect(() => read(listOf(250_001))).toThrow(
    new InvalidResponseError('body: expected at most 250000 JSON values, received more.'),
  );
});
