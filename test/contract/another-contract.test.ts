import { expect, it } from 'vitest';
import { openRestBackend } from '../../src/backends/rest/backend.ts';
import type { BackendOf } from '../../src/contract/backend.ts';
import { ErrorResponse } from '../../src/contract/error.ts';
import { enumeration, integer, text } from '../../src/contract/fields.ts';
import { writeKeyOf } from '../../src/contract/idempotency.ts';
import { JsonText } from '../../src/contract/json.ts';
import type { Contract, Operations } from '../../src/contract/operation.ts';
import { defineRecord, type RecordOf } from '../../src/contract/record.ts';
import { Calls } from '../../src/graphql/calls.ts';
import { createV1 } from '../../src/v1/routes.ts';
import { openWriteMemory } from '../../src/writes/memory.ts';
import { rememberWrites } from '../../src/writes/remembered-writes.ts';
import { callWith, openKeys, startGateway } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { quiet } from '../support/log.ts';

const book = defineRecord('book', 'books', {
  isbn: { name: 'isbn', kind: text, isRequired: true },
  title: { name: 'title', kind: text, isRequired: true },
  state: { name: 'state', kind: enumeration(['lent', 'here']), isRequired: false },
});

const common = { service: 'library', field: 'Query.books' } as const;

const operations = {
  listBooks: {
    ...common,
    method: 'GET',
    path: '/shelves/{shelf}/books',
    parameters: { shelf: text },
    query: { limit: { kind: integer(1, 3) }, state: { kind: enumeration(['lent', 'here']) } },
    response: { listOf: book, maximum: 3 },
  },
  getBook: {
    ...common,
    method: 'GET',
    path: '/books/{isbn}',
    parameters: { isbn: text },
    response: book,
  },
  addBook: { ...common, method: 'POST', path: '/books', body: book, response: book, status: 201 },
  replaceBook: {
    ...common,
    method: 'PUT',
    path: '/books/{isbn}',
    parameters: { isbn: text },
    body: book,
    response: book,
  },
  removeBook: {
    ...common,
    method: 'DELETE',
    path: '/books/{number}',
    parameters: { number: text },
    response: 'nothing',
  },
  getPart: {
    ...common,
    method: 'GET',
    path: '/books/{isbn}/{part}',
    parameters: { isbn: text, part: text },
    response: 'json',
  },
  returnBook: {
    ...common,
    method: 'POST',
    path: '/books/{isbn}/returns',
    parameters: { isbn: text },
    response: 'nothing',
    status: 202,
  },
  scanBook: {
    ...common,
    method: 'POST',
    path: '/books/{isbn}/scan.pdf',
    parameters: { isbn: text },
    response: 'json',
  },
} as const satisfies Operations;

const contract = {
  operations,
  services: { library: { mountedAt: '/v1', version: '/v1', variable: 'LIBRARY_BASE_URL' } },
  probe: { id: 'listBooks', value: { shelf: 'a' } },
} as const satisfies Contract;

/** Opens a backend in memory that counts removals and scans. */
function openLibrary() {
  const books = new Map<string, RecordOf<(typeof book)['fields']>>();
  const find = (isbn: string) => {
    const message = `There is no book ${isbn}.`;
    return (
      books.get(isbn) ?? Promise.reject(ErrorResponse.of({ code: 'none', message, status: 404 }))
    );
  };
  let writes = 0;
  const backend: BackendOf<typeof operations> = {
    async listBooks(_, { shelf, limit = 3, state }) {
      const all = [...books.values()].filter((one) => one.isbn.startsWith(shelf));
      return all.filter((one) => state === undefined || one.state === state).slice(0, limit);
    },
    getBook: async (_, isbn) => find(isbn),
    async addBook(_, one) {
      books.set(one.isbn, one);
      return one;
    },
    async replaceBook(_, { isbn, body }) {
      await find(isbn);
      books.set(isbn, body);
      return body;
    },
    async removeBook(_, isbn) {
      await find(isbn);
      writes++;
      books.delete(isbn);
      return undefined;
    },
    getPart: async (_, { part }) => new JsonText(`["${part}"]`),
    returnBook: async () => undefined,
    async scanBook() {
      writes++;
      return new JsonText('[9007199254740993]');
    },
    send: () => Promise.reject(new Error('no other paths')),
    checkReady: async () => {},
    async [Symbol.asyncDispose]() {},
  };
  return Object.assign(backend, { writes: () => writes });
}

it('another contract is served as REST, and called, from its declaration', async () => {
  const backend = openLibrary();
  await using gateway = await startGateway({
    createV1: (given) => createV1({ ...given, contract, backend }),
  });
  const keys = openKeys();
  const baseUrl = new URL(`${gateway.url}/v1`);
  const options = { baseUrls: { library: baseUrl }, timeoutMs: 60_000 };
  await using library = rememberWrites(
    contract,
    openRestBackend(contract, options, quiet, keys),
    openWriteMemory(keys, quiet.metrics),
    { library: { url: baseUrl.href, carriesKey: false } },
  );
  const call = callWith();

  const emma = { isbn: 'a/1', title: 'Emma', state: 'here' } as const;
  const other = { isbn: 'a 2', title: 'Größe "quoted"' };
  expect(await library.addBook(call, emma)).toEqual(emma);
  await library.addBook(call, other);
  expect(await library.getBook(call, 'a/1')).toEqual(emma);
  const list = async (value: Parameters<typeof library.listBooks>[1]) => [
    ...(await library.listBooks(callWith(), value)),
  ];
  expect(await list({ shelf: 'a' })).toEqual([emma, other]);
  expect(await list({ shelf: 'a', limit: 1 })).toEqual([emma]);
  expect(await list({ shelf: 'a', limit: 3, state: 'lent' })).toEqual([]);
  await expect(list({ shelf: 'a', limit: 4 })).rejects.toThrow(
    'limit: expected an integer from 1 to 3, received "4".',
  );

  const lent = { ...emma, state: 'lent' } as const;
  expect(await library.replaceBook(call, { isbn: 'a/1', body: lent })).toEqual(lent);
  const write = writeKeyOf({ idempotencyKey: 'k' }, 'removeBook', 'removeBook', 'a/1');
  expect(await library.removeBook(call, 'a/1', write)).toBeUndefined();
  expect(await library.removeBook(callWith(), 'a/1', write)).toBeNull();
  expect(backend.writes()).toBe(1);
  const scan = writeKeyOf({ idempotencyKey: 's' }, 'scanBook', 'scanBook', 'a/1');
  for (let attempt = 0; attempt < 2; attempt++) {
    const scanned = await library.scanBook(callWith(), 'a/1', scan);
    expect(scanned).toEqual(new JsonText('[9007199254740993]'));
  }
  expect(backend.writes()).toBe(2);
  expect(await library.getPart(call, { isbn: '1', part: 'scan-pdf' })).toEqual(
    new JsonText('["scan-pdf"]'),
  );
  const returned = await fetch(`${gateway.url}/v1/books/1/returns`, {
    method: 'POST',
    headers: withKey,
  });
  expect([returned.status, returned.headers.get('content-type')]).toEqual([202, null]);
  await expect(library.getBook(call, 'a/1')).rejects.toMatchObject({ status: 404 });
  await expect(library.getBook(call, '..')).rejects.toThrow('isbn: expected a name');

  const preflight = await fetch(`${gateway.url}/v1/books/1`, { method: 'PATCH' });
  expect([preflight.status, preflight.headers.get('allow')]).toEqual([
    405,
    'GET, HEAD, PUT, DELETE',
  ]);
});

it('a built-in call without a response body is explained with its status', async () => {
  const OwnCalls = Calls.of(contract);
  const backend = { ...openLibrary(), isBuiltin: true as const };
  const calls = new OwnCalls(callWith(), backend, true);
  await calls.addBook({ isbn: '1', title: 'Emma' }, 'add');
  await calls.removeBook('1', 'remove');
  expect(calls.explained?.list()).toMatchObject([{ status: 201 }, { status: 204 }]);
});
