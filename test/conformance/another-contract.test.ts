import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { runChecks } from '../../src/conformance/run.ts';
import type { BackendOf } from '../../src/contract/backend.ts';
import { ErrorResponse } from '../../src/contract/error.ts';
import { enumeration, int64, integer, type Kind, text } from '../../src/contract/fields.ts';
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
    // No checks of these change records that they have not added.
    removeBooks: { ...common, method: 'DELETE', path: '/books', response: 'nothing' },
    lendBook: { ...one, method: 'POST', path: '/books/{number}/loan', response: book },
    retitleBook: {
      ...one,
      method: 'PUT',
      path: '/books/{number}/title',
      body: { member: 'title', kind: text },
      response: book,
    },
    // Others than a list and its records.
    listLent: {
      ...common,
      method: 'GET',
      path: '/lent-books',
      query: { title: { kind: text, filters: true } },
      response: { listOf: book, maximum: 100 },
    },
    listShelf: {
      ...common,
      method: 'GET',
      path: '/shelves/{shelf}/books',
      parameters: { shelf: text },
      query: { state: { kind: enumeration(['lent', 'here']), filters: true } },
      response: { listOf: book, maximum: 100 },
    },
    getLatest: { ...common, method: 'GET', path: '/latest-book', response: book },
    countBooks: {
      ...common,
      method: 'GET',
      path: '/book-count',
      response: { member: 'count', kind: integer(0, 100) },
    },
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
function openLibrary(first: string, broken?: keyof Library) {
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
  const untouched = () => Promise.reject(new Error('Checks must not send this.'));
  const library: BackendOf<Library> = {
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
      return broken === 'replaceBook' ? body : put(body);
    },
    async removeBook(caller, number) {
      check(caller);
      find(number);
      if (broken !== 'removeBook') books.delete(number);
      return undefined;
    },
    removeBooks: untouched,
    lendBook: untouched,
    retitleBook: untouched,
    async listLent(caller, { title }) {
      check(caller);
      const lent = [{ number: '77', title: 'Persuasion' }];
      return broken === 'listLent' && title
        ? []
        : lent.filter((one) => one.title === (title ?? one.title));
    },
    async listShelf(caller) {
      check(caller);
      throw refused(404, 'There is no such shelf.');
    },
    async getLatest(caller) {
      check(caller);
      return find(first);
    },
    async countBooks(caller) {
      check(caller);
      return broken === 'countBooks' ? -1 : books.size;
    },
    send: () => Promise.reject(new Error('no other paths')),
    checkReady: async () => {},
    async [Symbol.asyncDispose]() {},
  };
  return { library, books };
}

/** Checks a library. Returns its checks, and its first book as it is then. */
async function checkLibrary(kind: Kind<string>, first: string, broken?: keyof Library) {
  const contract = contractOf(kind);
  const { library: backend, books } = openLibrary(first, broken);
  await using gateway = await startGateway({
    createV1: (given) => createV1({ ...given, contract, backend }),
  });
  const baseUrls = { library: new URL(`${gateway.url}/v1`) };
  const options = { apiKey, baseUrls, write: true, idempotency: false, timeoutMs: 5000 };
  return { checks: await runChecks(contract, options), book: books.get(first) };
}

it.each([
  ['text', text, randomUUID()],
  ['int64', int64, '1'],
])('a service whose callers choose ids of the kind %s passes all checks', async (_, kind, first) => {
  const { checks, book } = await checkLibrary(kind, first);
  expect(checks.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  expect(book).toEqual({ number: first, title: 'Emma' });
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
  const passed = checks.filter(({ verdict }) => verdict === 'pass').map(({ rule }) => rule);
  expect(passed).toEqual(
    expect.arrayContaining([
      'POST /books: 201 with the book and its id, and GET returns it',
      'PUT /books/{number} with other values: 200, and GET returns it',
      'PUT /books/{number} with a wrong key: 401 with an Error body',
      'DELETE /books/{number}: 204, and GET no longer finds it',
      'GET /lent-books?title=…: all books with the title of one, and no others',
      'GET /latest-book: 200 with a valid body',
      'GET /book-count: 200 with a valid body',
    ]),
  );
  const skipped = checks.filter(({ verdict }) => verdict === 'skip').map(({ seen }) => seen);
  expect(skipped).toEqual(['the example is unknown']);
});

it.each([
  ['replaceBook', 'title: expected "Another check", received "Contract check"'],
  ['removeBook', 'expected 404, received 200, JSON'],
  ['countBooks', 'count: expected an integer from 0 to 100, received number.'],
  ['listLent', 'book 77 has this title but is not in the list of 0'],
] as const)('a service whose %s is wrong fails its check', async (broken, seen) => {
  const { checks } = await checkLibrary(text, 'a', broken);
  const failed = checks.filter(({ verdict }) => verdict === 'fail');
  expect(failed.map(({ id, seen: why }) => [id, why])).toEqual([
    [broken === 'listLent' ? 'listLent-filter' : broken, seen],
  ]);
});
