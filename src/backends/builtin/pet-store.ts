import { randomUUID } from 'node:crypto';
import { ErrorResponse } from '../../contract/error.ts';
import { parseJson } from '../../contract/json.ts';
import type { Call, PetStore } from '../../contract/pet-store.ts';
import { type Pet, type PetStatus, pageSize } from '../../contract/records.ts';
import type { Log } from '../../telemetry/log.ts';
import { createApiKeyCheck } from './api-keys.ts';
import { type Database, openDatabase } from './database.ts';
import { addDemoData } from './demo.ts';
import { storageFault } from './faults.ts';

/** Where the built-in backend keeps its data. */
export interface BuiltinPetStoreOptions {
  /** `file:PATH` or `:memory:`. */
  readonly databaseUrl: string;
  /** Set for a demo: an empty database is filled, and this key is accepted. */
  readonly demoKey: string | undefined;
}

/** Opens the built-in backend: the contract over a SQL database, tables created as needed. */
export async function openBuiltinPetStore(
  options: BuiltinPetStoreOptions,
  log: Log,
): Promise<PetStore> {
  const database = await openDatabase(options.databaseUrl);
  if (options.demoKey) await addDemoData(database);
  return createPetStore(database, options.demoKey, log);
}

function createPetStore(database: Database, demoKey: string | undefined, log: Log): PetStore {
  const checkApiKey = createApiKeyCheck(database, demoKey);

  async function answer<T>({ apiKey, requestId }: Call, work: () => Promise<T>): Promise<T> {
    try {
      await checkApiKey(apiKey);
      return await work();
    } catch (error) {
      const fault = storageFault(error);
      if (fault === undefined) throw error;
      log.error({ err: error, requestId }, 'database fault');
      throw fault;
    }
  }

  return {
    listPets: (call, { limit = pageSize.default, status }) =>
      answer(call, async () => {
        let query = database.selectFrom('pets').selectAll().orderBy('id').limit(limit);
        if (status !== undefined) query = query.where('status', '=', status);
        return (await query.execute()).map(toPet);
      }),

    createPet: (call, { name, categoryId, status }) =>
      answer(call, async () => {
        requireStorable('name', name);
        const row = await database
          .insertInto('pets')
          .values({ name, category_id: BigInt(categoryId), status: status ?? null })
          .returningAll()
          .executeTakeFirstOrThrow();
        return toPet(row);
      }),

    getPet: (call, petId) =>
      answer(call, async () => {
        const row = await database
          .selectFrom('pets')
          .selectAll()
          .where('id', '=', BigInt(petId))
          .executeTakeFirst();
        if (row !== undefined) return toPet(row);
        throw ErrorResponse.of({
          code: 'pet_not_found',
          message: `There is no animal with the id ${petId}.`,
          status: 404,
        });
      }),

    listOrders: (call) =>
      answer(call, async () => {
        const rows = await database.selectFrom('orders').select('document').orderBy('id').execute();
        return rows.map(({ document }) => parseJson(document));
      }),

    sendMessage: (call, message) =>
      answer(call, async () => {
        requireStorable('message', message);
        const row = {
          id: randomUUID(),
          message,
          status: 'queued',
          created_at: new Date().toISOString(),
        };
        await database.insertInto('messages').values(row).execute();
        return { id: row.id, message, status: row.status, createdAt: row.created_at };
      }),

    async [Symbol.asyncDispose]() {
      await database.destroy();
    },
  };
}

function toPet(row: {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus | null;
}): Pet {
  const pet = { id: String(row.id), name: row.name, categoryId: String(row.category_id) };
  return row.status === null ? pet : { ...pet, status: row.status };
}

/** Text that a database would change (lone surrogates) or refuse (NUL) is refused, not altered. */
function requireStorable(field: string, text: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  throw ErrorResponse.of({
    code: 'invalid_value',
    message: `${field}: expected text without NUL characters and lone surrogates.`,
    status: 400,
  });
}
