import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/contract/error.ts';
import { enumeration, int64, integer, text } from '../../src/contract/fields.ts';
import { parseJson } from '../../src/contract/json.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { defineRecord } from '../../src/contract/record.ts';
import {
  createRequestReader,
  createRequestWriter,
  createResponseReader,
  createResponseWriter,
} from '../../src/contract/request.ts';

const book = defineRecord('book', 'books', {
  isbn: { name: 'isbn', kind: text, isRequired: true, isAssigned: true },
  title: { name: 'title', kind: text, isRequired: true },
  copies: { name: 'copies', kind: int64, isRequired: false },
});

const shared = { service: 'library', field: 'Query.any', response: book } as const;

const declared = {
  none: { ...shared, method: 'GET', path: '/books' },
  one: { ...shared, method: 'GET', path: '/books/{isbn}', parameters: { isbn: text } },
  two: {
    ...shared,
    method: 'GET',
    path: '/shelves/{shelfId}/books/{isbn}',
    parameters: { shelfId: int64, isbn: text },
  },
  search: {
    ...shared,
    method: 'GET',
    path: '/shelves/{shelfId}/books',
    parameters: { shelfId: int64 },
    query: {
      from: { kind: integer(-9, 99) },
      author: { kind: text },
      state: { kind: enumeration(['lent', 'here']) },
    },
  },
  add: { ...shared, method: 'POST', path: '/books', body: book },
  note: { ...shared, method: 'POST', path: '/notes', body: { member: 'pages', kind: int64 } },
  replace: {
    ...shared,
    method: 'PUT',
    path: '/books/{isbn}',
    parameters: { isbn: text },
    body: book,
  },
} as const satisfies Readonly<Record<string, Operation>>;

/** Writes the request of a value, and reads it as a server does. */
function pass(operation: Operation, value: unknown): unknown {
  const { path, json } = createRequestWriter(operation)(value);
  const url = new URL(path, 'http://service');
  const [, ...segments] =
    new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(url.pathname) ?? [];
  const body = () => parseJson(JSON.stringify(json));
  return createRequestReader(operation)({ segments, search: url.search, json: body });
}

const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const word = fc.string({ minLength: 1, unit: 'grapheme' }).filter((one) => !/^\.{1,2}$/.test(one));
const content = fc.record({ title: fc.string(), copies: fc.option(id, { nil: undefined }) });
const values: Readonly<Record<keyof typeof declared, fc.Arbitrary<unknown>>> = {
  none: fc.constant(undefined),
  one: word,
  two: fc.record({ shelfId: id, isbn: word }),
  search: fc.record({
    shelfId: id,
    from: fc.option(fc.integer({ min: -9, max: 99 }), { nil: undefined }),
    author: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
    state: fc.option(fc.constantFrom('lent', 'here'), { nil: undefined }),
  }),
  add: content,
  note: id,
  replace: fc.record({ isbn: word, body: content }),
};

describe('the request of an operation', () => {
  it.each(
    Object.keys(declared) as (keyof typeof declared)[],
  )('carries each value of %s', (name) => {
    fc.assert(
      fc.property(values[name], (value) => {
        expect(pass(declared[name], value)).toEqual(value);
      }),
    );
  });

  it.each([
    [declared.two, ['x', 'a'], '', 'shelfId: expected an int64, received "x".'],
    [declared.one, ['%E0%A4'], '', 'isbn: expected a string, received "%E0%A4".'],
    [
      declared.search,
      ['1'],
      '?from=100',
      'from: expected an integer from -9 to 99, received "100".',
    ],
    [declared.search, ['1'], '?from=1&from=2', 'from: expected one value, received 2.'],
    [declared.search, ['1'], '?state=lost', 'state: expected one of lent, here, received "lost".'],
    [declared.add, [], '', 'body: expected a JSON object, received 5.'],
    [declared.note, [], '', 'body: expected a JSON object, received 5.'],
  ])('is refused with what was expected: %#', (operation, segments, search, message) => {
    expect(() => createRequestReader(operation)({ segments, search, json: () => 5 })).toThrow(
      message,
    );
  });
});

it.each(['', '.', '..'])('a parameter of a path is not %j, which a URL resolves', (isbn) => {
  expect(() => createRequestWriter(declared.one)(isbn)).toThrow(
    new InvalidInputError(`isbn: expected a name, received ${JSON.stringify(isbn)}.`),
  );
});

it('carries no text that is not well-formed', () => {
  const search = createRequestWriter(declared.search);
  expect(() => search({ shelfId: '1', author: '\ud800' })).toThrow(
    'author: expected well-formed Unicode',
  );
});

describe('the response of an operation', () => {
  const record = { isbn: '1', title: 'Emma', copies: '9007199254740993' };

  it.each<[Operation['response'], unknown, string]>([
    [book, record, '{"isbn":"1","title":"Emma","copies":9007199254740993}'],
    [{ listOf: book, maximum: 2 }, [{ isbn: '1', title: 'Emma' }], '[{"isbn":"1","title":"Emma"}]'],
    [{ member: 'count', kind: integer(0, 9) }, 3, '{"count":3}'],
    [{ member: 'next', kind: int64 }, '9007199254740993', '{"next":9007199254740993}'],
    ['nothing', undefined, ''],
  ])('has the same value on both sides: %#', (response, value, body) => {
    const operation = { ...declared.none, response };
    expect(createResponseWriter(operation)(value)).toBe(body);
    const result = createResponseReader(operation)(body);
    expect(Array.isArray(value) ? [...(result as Iterable<unknown>)] : result).toEqual(value);
  });
});
