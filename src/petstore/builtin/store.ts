import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { RecordKind } from '../../backends/builtin/import-line.ts';
import type { Statements, Store } from '../../backends/builtin/store.ts';
import { requireStorable } from '../../backends/builtin/table.ts';
import type { Engine } from '../../backends/builtin/tables.ts';
import { BackendUnavailableError, ErrorResponse } from '../../contract/error.ts';
import { JsonText } from '../../contract/json.ts';
import { readJsonText } from '../../contract/response-json.ts';
import type { Log } from '../../telemetry/log.ts';
import type { operations } from '../operations.ts';
import type { Message, NewPet, Pet, recordKinds } from '../records.ts';
import { demoKeys, insertDemoData } from './demo.ts';
import { createPageReader } from './pages.ts';
import { createTables, type Database, migrations, type PetStoreTables, pets } from './tables.ts';

/** The pet store on a SQL database. */
export const store: Store<PetStoreTables, typeof operations> = {
  createTables,
  migrations,
  mainTable: 'pets',
  recordKinds: { pets, orders: 'document' } satisfies Record<
    (typeof recordKinds)[number],
    RecordKind
  >,
  open,
  insertDemoData,
  demoKeys,
};

function open(
  database: Database,
  engine: Engine,
  log: Log,
): Statements<PetStoreTables, typeof operations> {
  const readPage = createPageReader(database, engine);
  return {
    listPets: {
      title: 'SELECT pets',
      run: async (connection, query, { isEmpty }) => (isEmpty ? [] : readPage(connection, query)),
    },
    createPet: {
      title: 'INSERT pets',
      check: (pet) => pets.requireStorable(pet),
      run: insertPet,
    },
    getPet: {
      title: 'SELECT pets',
      async run(connection, petId, { isEmpty }) {
        const query = connection.selectFrom('pets').select(pets.selected);
        const found = query.where('id', '=', BigInt(petId));
        const row = isEmpty ? undefined : await found.executeTakeFirst();
        if (row === undefined) throw petNotFound(petId);
        return pets.toRecord(row);
      },
    },
    listOrders: {
      title: 'SELECT orders',
      async run(connection, _, { isEmpty, requestId }) {
        const query = sql<{ id: bigint; document: string }>`
          with page as (select id, document from orders order by id limit ${isEmpty ? 0 : maxOrders}),
          counted as (
            select id, document, sum(octet_length(document)) over (order by id) as bytes from page
          )
          select id, document from counted where bytes <= ${maxOrdersBytes} order by id`;
        const { rows } = await query.execute(connection);
        const orders = rows.flatMap(({ id, document }) => {
          try {
            return readJsonText(document).text;
          } catch (err) {
            log.error({ err, orderId: String(id), requestId }, 'order left out');
            return [];
          }
        });
        return new JsonText(`[${orders.join()}]`);
      },
    },
    sendMessage: {
      title: 'INSERT messages',
      check: (message) => requireStorable('message', message, maxMessageLength),
      run: insertMessage,
    },
  };
}

function petNotFound(petId: string): ErrorResponse {
  const message = `There is no pet with the id ${petId}.`;
  return ErrorResponse.of({ code: 'pet_not_found', message, status: 404 });
}

const maxMessageLength = 10_000;

/** Limits of the list of orders, because the contract specifies no paging for it. */
const maxOrders = 1000;
const maxOrdersBytes = 500_000;

/**
 * Stores a pet under the next free id, because an import may have used ids that the database would
 * assign. An insert with a taken id stores nothing, so it is safe to repeat.
 */
async function insertPet(connection: Database, pet: NewPet): Promise<Pet> {
  for (let tries = 0; tries < 1000; tries++) {
    const row = await connection
      .insertInto('pets')
      .values(pets.toRow(pet))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(pets.selected)
      .executeTakeFirst();
    if (row !== undefined) return pets.toRecord(row);
  }
  throw new BackendUnavailableError('The store found no free id.', { writeOutcome: 'NOT_DONE' });
}

/** Stores a message as queued. */
async function insertMessage(connection: Database, message: string): Promise<Message> {
  const created_at = new Date().toISOString();
  const row = { id: randomUUID(), message, status: 'queued', created_at };
  await connection.insertInto('messages').values(row).execute();
  return { id: row.id, message, status: row.status, createdAt: row.created_at };
}
