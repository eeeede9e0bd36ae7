import { statSync } from 'node:fs';
import { sql } from 'kysely';
import { untilDeadline } from '../../contract/deadline.ts';
import {
  BackendUnavailableError,
  ErrorResponse,
  NotConfiguredError,
} from '../../contract/error.ts';
import { JsonText } from '../../contract/json.ts';
import {
  type OperationId,
  operations,
  type PetStore,
  type WriteKey,
} from '../../contract/pet-store.ts';
import { readJsonText } from '../../contract/response-json.ts';
import type { KeyedCaller } from '../../keys/api-key.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { nextTurn } from '../../limits/turns.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';
import { createApiKeyCheck } from './api-key-check.ts';
import { type Database, engineOf, openDatabase, type Query } from './database.ts';
import { addDemoData } from './demo.ts';
import { createStaging, demoKeys } from './demo-keys.ts';
import { storageFault } from './faults.ts';
import { createIdempotentWrites, inDoubt } from './idempotent-writes.ts';
import { insertMessage, insertPet } from './insert-records.ts';
import { whenFree } from './locks.ts';
import { createPageReader } from './pages.ts';
import { requirePetStorable, requireStorable, selectedPet, toPet } from './rows.ts';
import { takePlace } from './take-place.ts';

/** Options of the built-in backend. */
export interface BuiltinPetStoreOptions {
  /** `file:PATH`, `:memory:` or `postgres://…`. */
  readonly databaseUrl: string;
  /** Set only for a demo: accepts this key and the others of a demo, and fills an empty database with pets. */
  readonly demoKey: string | undefined;
  /** The time that a call may wait in the queue, and that `demo-timeout` takes, in milliseconds. */
  readonly timeoutMs: number;
  /** The most connections to PostgreSQL; 10 by default. */
  readonly poolSize?: number | undefined;
}

/** Opens the built-in backend, which implements the contract on a SQL database, and migrates it. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the methods share the database and the check of keys.
export async function openBuiltinPetStore(
  { databaseUrl, demoKey, timeoutMs, poolSize = 10 }: BuiltinPetStoreOptions,
  { log, metrics }: Reporting,
  keys: ApiKeys,
): Promise<PetStore<KeyedCaller>> {
  const database = await openDatabase(databaseUrl, log, { poolSize, metrics });
  const engine = engineOf(databaseUrl);
  if (demoKey) await whenFree(() => addDemoData(database, engine), log);
  const accepted = new Set(demoKey ? [demoKey, ...demoKeys.keys()] : []);
  const callStaged = createStaging(timeoutMs);
  const readPage = createPageReader(database, engine);
  const writeOnce = createIdempotentWrites(engine);

  const places = keys.openPlaces('database', poolSize);
  metrics.watchLimit(places.inFlight);
  metrics.waitingQueries({}, () => places.waiting.used);

  /** Sends a query when there is a connection, if the caller still waits for it then. */
  async function send<T>(caller: KeyedCaller, deadlineAt: number, query: Query<T>): Promise<T> {
    if (caller.cancelled) throw caller.cancelled;
    if (engine === 'sqlite') return query(database);
    await takePlace(places, caller, deadlineAt);
    try {
      return await database.connection().execute(async (connection) => {
        if (caller.cancelled) throw caller.cancelled;
        return query(connection);
      });
    } finally {
      places.leave(caller.key);
    }
  }

  const checkApiKey = createApiKeyCheck(database, accepted, send, keys, log);

  const file = /^file:(.+)/s.exec(databaseUrl)?.[1];
  const inode = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;
  const findFile = () => file && `${inode(file)} ${inode(`${file}-wal`)}`;
  const openedFile = findFile();

  async function guard<T>(requestId: string, isWrite: boolean, work: () => Promise<T>): Promise<T> {
    try {
      // SQLite would write to files that were deleted or replaced. This is its SQLITE_READONLY_DBMOVED.
      if ((isWrite || requestId === 'readyz') && findFile() !== openedFile) {
        throw Object.assign(new Error('file moved'), { errcode: 1032 });
      }
      return await whenFree(work);
    } catch (error) {
      const fault = storageFault(error, isWrite);
      if (!(fault instanceof BackendUnavailableError)) throw fault ?? error;
      log.error({ err: error, requestId }, 'database fault');
      throw fault;
    }
  }

  /** The transaction of a repetition may be in flight. */
  const run: typeof make = (...args) => (args[4] ? inDoubt(engine, make(...args)) : make(...args));

  async function make<T>(
    operation: OperationId,
    caller: KeyedCaller,
    work: (connection: Database, isEmpty: boolean) => Promise<T>,
    checkInput?: () => void,
    write?: WriteKey,
  ): Promise<T> {
    const { key, requestId } = caller;
    const deadlineAt = performance.now() + timeoutMs;
    const checked = guard(requestId, false, () => checkApiKey(caller, deadlineAt));
    await untilDeadline(caller, () => false, checked);
    keys.accept(key);
    const isWrite = operations[operation].method === 'POST';
    const staged = accepted.has(key.credential) ? demoKeys.get(key.credential) : undefined;
    // SQLite writes inside the event loop, and ends when the disk has it.
    if (isWrite) await nextTurn(caller);
    if (caller.cancelled) throw caller.cancelled;
    const start = performance.now();
    const endSpan = caller.trace?.startQuery(queries[operation], databaseUrl);
    let errorType: string | undefined;
    // A call with a demo key stands for one that a service has received.
    let isSent = staged !== undefined;
    const mayBeDone = () => isWrite && isSent;
    try {
      const query: Query<T> = (connection) => {
        isSent = true;
        const isEmpty = staged?.isEmpty === true;
        if (write === undefined) return work(connection, isEmpty);
        return writeOnce(connection, caller, write, (transaction) => work(transaction, isEmpty));
      };
      const guarded = () => {
        // Needs no connection.
        checkInput?.();
        return guard(requestId, isWrite, () => send(caller, deadlineAt, query));
      };
      const call = staged ? callStaged(staged, caller, operation, guarded) : guarded();
      return await untilDeadline(caller, mayBeDone, call);
    } catch (error) {
      const { name, cause = error } = error as Error;
      const { code = name } = cause as NodeJS.ErrnoException;
      if (!(error instanceof ErrorResponse)) errorType = code;
      throw error;
    } finally {
      endSpan?.(errorType);
      metrics.databaseQueries.observe({ operation }, (performance.now() - start) / 1000);
    }
  }

  return {
    isBuiltin: true,
    listPets: (caller, query) =>
      run('listPets', caller, async (connection, isEmpty) =>
        isEmpty ? [] : readPage(connection, query),
      ),

    createPet: (caller, pet, write) =>
      run(
        'createPet',
        caller,
        (connection) => insertPet(connection, pet),
        () => requirePetStorable(pet),
        write,
      ),

    getPet: (caller, petId) =>
      run('getPet', caller, async (connection, isEmpty) => {
        const query = connection.selectFrom('pets').select(selectedPet);
        const found = query.where('id', '=', BigInt(petId));
        const row = isEmpty ? undefined : await found.executeTakeFirst();
        if (row !== undefined) return toPet(row);
        throw ErrorResponse.of({
          code: 'pet_not_found',
          message: `There is no pet with the id ${petId}.`,
          status: 404,
        });
      }),

    listOrders: (caller) =>
      run('listOrders', caller, async (connection, isEmpty) => {
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
            log.error({ err, orderId: String(id), requestId: caller.requestId }, 'order left out');
            return [];
          }
        });
        return new JsonText(`[${orders.join()}]`);
      }),

    sendMessage: (caller, message, write) =>
      run(
        'sendMessage',
        caller,
        (connection) => insertMessage(connection, message),
        () => requireStorable('message', message, maxMessageLength),
        write,
      ),

    send: () => Promise.reject(new NotConfiguredError(noService)),
    async checkReady() {
      const query = database.selectFrom('pets').select('id').limit(1);
      await guard('readyz', false, () => query.execute());
    },

    [Symbol.asyncDispose]: () => database.destroy(),
  };
}

const queries: Readonly<Record<OperationId, string>> = {
  listPets: 'SELECT pets',
  createPet: 'INSERT pets',
  getPet: 'SELECT pets',
  listOrders: 'SELECT orders',
  sendMessage: 'INSERT messages',
};

const maxMessageLength = 10_000;

/** Limits of the list of orders, because the contract specifies no paging for it. */
const maxOrders = 1000;
const maxOrdersBytes = 500_000;

const noService =
  'This field calls another path of the REST service: expected one in PETSTORE_BASE_URL, received none.';
