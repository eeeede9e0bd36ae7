import { expect, it } from 'vitest';
import { openAdministration } from '../../../src/backends/builtin/administration.ts';
import { openBuiltinBackend } from '../../../src/backends/builtin/backend.ts';
import type { Store } from '../../../src/backends/builtin/store.ts';
import { createTable, type RowOf } from '../../../src/backends/builtin/table.ts';
import type { Tables } from '../../../src/backends/builtin/tables.ts';
import { enumeration, int64, text } from '../../../src/contract/fields.ts';
import type { Operations } from '../../../src/contract/operation.ts';
import { defineRecord } from '../../../src/contract/record.ts';
import { describeOnEveryDatabase } from '../../support/databases.ts';
import { callWith, openKeys } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';

/** Callers choose the ISBN. */
const book = defineRecord('book', 'books', {
  isbn: { name: 'isbn', kind: text, isRequired: true },
  ownerId: { name: 'ownerId', kind: text, isRequired: false },
  addedOn: { name: 'addedOn', kind: text, isRequired: false },
});

/** The service assigns the id. */
const member = defineRecord('member', 'members', {
  id: { name: 'id', kind: text, isRequired: true, isAssigned: true },
  name: { name: 'name', kind: text, isRequired: true },
});

/** Callers choose the number, which is the id. */
const shelf = defineRecord('shelf', 'shelves', {
  id: { name: 'id', kind: int64, isRequired: true },
  order: { name: 'order', kind: enumeration(['author', 'title']), isRequired: true },
});

const books = createTable(book);
const members = createTable(member);
const shelves = createTable(shelf);

interface LibraryTables extends Tables {
  books: RowOf<(typeof book)['fields']>;
}

const operations = {
  addBook: {
    method: 'POST',
    path: '/books',
    service: 'library',
    field: 'Mutation.addBook',
    body: book,
    response: book,
  },
} as const satisfies Operations;

const store: Store<LibraryTables, typeof operations> = {
  migrations: {},
  createTables: () => [
    'create table books (isbn text primary key, owner_id text, "addedOn" text)',
    'create table members (id text primary key, name text not null)',
    'create table shelves (id bigint primary key, "order" text not null)',
  ],
  mainTable: 'books',
  recordKinds: { books, members, shelves },
  open: () => ({
    addBook: {
      title: 'INSERT books',
      async run(connection, one) {
        const added = connection.insertInto('books').values(books.toRow(one));
        return books.toRecord(await added.returning(books.selected).executeTakeFirstOrThrow());
      },
    },
  }),
  insertDemoData: async (transaction) => {
    await transaction
      .insertInto('books')
      .values(books.toRow({ isbn: 'demo' }))
      .execute();
  },
  demoKeys: {},
};

async function* lines(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

const open = (databaseUrl: string) => openAdministration(databaseUrl, store, quiet.log);

describeOnEveryDatabase('a store of another contract', (createDatabase) => {
  it('is opened with its demo data, and has the ids that callers choose', async () => {
    const databaseUrl = await createDatabase();
    const options = { databaseUrl, demoKey: 'demo-key', timeoutMs: 10_000 };
    await using library = await openBuiltinBackend(operations, store, options, quiet, openKeys());
    await library.checkReady();
    const emma = { isbn: 'a/1', ownerId: 'm-1', addedOn: 'today' };
    expect(await library.addBook(callWith('demo-key'), emma)).toEqual(emma);
    await using administration = await open(databaseUrl);
    expect(await Array.fromAsync(administration.exportLines('books'))).toEqual([
      '{"isbn":"a/1","ownerId":"m-1","addedOn":"today"}\n',
      '{"isbn":"demo"}\n',
    ]);
  });

  it.each([
    ['books', Array.from({ length: 1500 }, (_, i) => `{"isbn":"${1e6 + i}","ownerId":"m"}`)],
    ['members', ['{"id":"m-1","name":"Ada"}', '{"id":"m-2","name":"Grace"}']],
    ['shelves', ['{"id":1,"order":"title"}', '{"id":9223372036854775807,"order":"author"}']],
  ])('imports and exports %s by their ids', async (kind, records) => {
    await using administration = await open(await createDatabase());
    const { importLines, exportLines } = administration;
    expect(await importLines(kind, lines(...records.toReversed()))).toBe(records.length);
    const exported = await Array.fromAsync(exportLines(kind));
    expect(exported).toEqual(records.map((record) => `${record}\n`));
    await expect(importLines(kind, lines(...records))).rejects.toThrow(
      /^Line 1: the id \S+ is already taken\. Nothing was imported\.$/,
    );
    const again = records.slice(0, 1).flatMap((record) => [record, record]);
    await expect(importLines(kind, lines(...again))).rejects.toThrow(/^Line [12]: the id \S+ is/);
  });

  it('has only its own kinds of records', async () => {
    await using administration = await open(await createDatabase());
    const message = 'kind: expected one of books, members, shelves, received "pets".';
    await expect(administration.importLines('pets', lines('{}'))).rejects.toThrow(message);
    expect(() => administration.exportLines('pets')).toThrow(message);
  });

  it.each([
    ['members', '{"name":"Ada"}', 'id: expected a string.'],
    ['members', '{"id":1,"name":"Ada"}', 'id: expected a string.'],
    ['members', '{"id":"\\u0000","name":"Ada"}', 'id: expected text without NUL'],
    ['books', '{}', 'isbn: expected a string, received nothing.'],
    ['shelves', '{"order":"title"}', 'id: expected an int64 number, received nothing.'],
  ])('imports none of the %s if one has no id of its kind: %s', async (kind, line, message) => {
    await using administration = await open(await createDatabase());
    await expect(administration.importLines(kind, lines(line))).rejects.toThrow(
      `Line 1: ${message}`,
    );
    expect(await Array.fromAsync(administration.exportLines(kind))).toEqual([]);
  });
});
