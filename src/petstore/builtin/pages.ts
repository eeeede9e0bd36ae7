import { sql } from 'kysely';
import type { Engine } from '../../backends/builtin/tables.ts';
import { createListReader } from '../../contract/list-text.ts';
import { type ListPetsQuery, operations } from '../operations.ts';
import { type Pets, pageSize, pet } from '../records.ts';
import { type Database, pets } from './tables.ts';

const readPets = createListReader(operations.listPets.response);

/**
 * Creates the reader of pages of pets, in the order of their ids. It compiles each query once, at
 * most 404, with a literal limit: a page of 20 takes 8 instead of 19 µs in SQLite (docs/performance.md).
 */
export function createPageReader(database: Database, engine: Engine) {
  const prepare = engine === 'sqlite' ? prepareText : prepareRows;
  const pages = new Map<string, ReadPage>();

  return (connection: Database, query: ListPetsQuery): Promise<Pets> => {
    const key = `${query.limit} ${query.status}`;
    let read = pages.get(key);
    if (read === undefined) {
      read = prepare(database, query);
      pages.set(key, read);
    }
    return read(connection);
  };
}

type ReadPage = (connection: Database) => Promise<Pets>;

/**
 * SQLite returns a page as one JSON text, which takes two thirds of the time of rows, and is copied
 * into the response (docs/performance.md).
 */
function prepareText(database: Database, page: ListPetsQuery): ReadPage {
  const query = database
    .selectFrom(selectPage(database, page).as('page'))
    .select(jsonOfPage.as('text'))
    .compile();
  const readRows = prepareRows(database, page);
  return async (connection) => {
    try {
      const { rows } = await connection.executeQuery(query);
      return readPets(rows[0]?.text ?? '[]');
    } catch {
      // Other programs can store values of other types, such as a BLOB, which JSON cannot contain.
      return readRows(connection);
    }
  };
}

/** SQLite aggregates the rows of an ordered subquery in its order; the tests pin it. */
const jsonOfPage = sql<string>`json_group_array(json_object(${sql.join(
  Object.keys(pet.fields).map((name) => sql`${sql.lit(name)}, ${sql.ref(name)}`),
)}))`;

/** A JSON text would take PostgreSQL more time than it saves here (docs/performance.md). */
function prepareRows(database: Database, page: ListPetsQuery): ReadPage {
  const query = selectPage(database, page).compile();
  return async (connection) => (await connection.executeQuery(query)).rows.map(pets.toRecord);
}

function selectPage(database: Database, { limit = pageSize.default, status }: ListPetsQuery) {
  const first = database
    .selectFrom('pets')
    .select(pets.selected)
    .orderBy('id')
    .limit(sql.lit(limit));
  return status === undefined ? first : first.where('status', '=', status);
}
