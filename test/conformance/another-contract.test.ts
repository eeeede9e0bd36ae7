import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { runChecks } from '../../src/conformance/run.ts';
import type { BackendOf } from '../../src/contract/backend.ts';
import { ErrorResponse } from '../../src/contract/error.ts';
import { enumeration, int64, type Kind, text } from '../../src/contract/fields.ts';
import type { Contract, Operations } from '../../src/contract/operation.ts';
import { defineRecord, type RecordOf } from '../../src/contract/record.ts';
import { createV1 } from '../../src/v1/routes.ts';
import { apiKey, startGateway } from '../support/gateway.ts';

/** A contract whose callers choose the ids of records, which are of this kind. */
function contractOf(kind: Kind<string>) {
  const book = defineRecord('book', 'books', {
    number: { name: 'number', kind, isRequired: true },
    title: { name: 'title', kind: text, isRequired: true },
    state: { name: 'state', kind: enumeration(['lent', 'here']), isRequired: false },
  });
  const common = { service: 'library', field: 'Query.books' } as const;
  const one = { ...common, path: '/books/{number}', parameters: { number: kind } } as const;
  const operations = {
    listBooks: {
      ...common,
      method: 'GET',
      path: '/books',
      response: { listOf: book, maximum: 100 },
    },
    getBook: { ...one, method: 'GET', response: book },
    addBook: { ...common, method: 'POST', path: '/books', body: book, response: book, status: 201 },
    replaceBook: { ...one, method: 'PUT', body: book, response: book },
    removeBook: { ...one, method: 'DELETE', response: 'nothing' },
  } as const satisfies Operations;
  return {
    operations,
    services: { library: { mountedAt: '/v1', version: '/v1', variable: 'LIBRARY_BASE_URL' } },
    probe: { id: 'listBooks', value: {} },
  } as const satisfies Contract;
}
type Library = ReturnType<typeof contractOf>['operations'];
type Book = RecordOf<Library['getBook']['response']['fields']>;

const refused = (status: number, message: string) =>
  ErrorResponse.of({ code: 'refused', message, status });

/** Opens a service in memory, which refuses a number that is taken, and one that differs from the path's. */
function openLibrary(first: string): BackendOf<Library> {
  const books = new Map<string, Book>([[first, { number: first, title: 'Emma' }]]);
  const find = (number: string) => {
    const found = books.get(number);
    if (found === undefined) throw refused(404, `There is no book ${number}.`);
    return found;
  };
  const put = (book: Book) => {
    books.set(book.number, book);
    return book;
  };
  const check = (caller: { readonly authorization?: string | undefined }) => {
    if (caller.authorization !== `Bearer ${apiKey}`) throw refused(401, 'The key is unknown.');
  };
  return {
    async listBooks(caller) {
      check(caller);
      return [...books.values()];
    },
    async getBook(caller, number) {
      check(caller);
      return find(number);
    },
    async addBook(caller, book) {
      check(caller);
      if (books.has(book.number)) throw refused(409, `There is a book ${book.number}.`);
      return put(book);
    },
    async replaceBook(caller, { number, body }) {
      check(caller);
      if (body.number !== number) throw refused(400, 'number: expected that of the path.');
      find(number);
      return put(body);
    },
    async removeBook(caller, number) {
      check(caller);
      books.delete(find(number).number);
      return undefined;
    },
    send: () => Promise.reject(new Error('no other paths')),
    checkReady: async () => {},
    async [Symbol.asyncDispose]() {},
  };
}

it.each([
  ['text', text, randomUUID()],
  ['int64', int64, '1'],
])('a service whose callers choose ids of the kind %s passes all checks', async (_, kind, first) => {
  const contract = contractOf(kind);
  await using gateway = await startGateway({
    createV1: (given) => createV1({ ...given, contract, backend: openLibrary(first) }),
  });
  const baseUrls = { library: new URL(`${gateway.url}/v1`) };
  const options = { apiKey, baseUrls, write: true, idempotency: false, timeoutMs: 5000 };
  const checks = await runChecks(contract, options);
  expect(checks.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  expect(checks.map(({ rule }) => rule)).toEqual(
    expect.arrayContaining([
      'POST /books: 201 with the book and its id, and GET returns it',
      'PUT /books/{number} with an unknown id: 404 with an Error body',
      'PUT /books/{number} with other values: 200, and GET returns it',
      'DELETE /books/{number}: 204, and GET no longer finds it',
    ]),
  );
});
