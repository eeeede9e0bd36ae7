import { statSync } from 'node:fs';
import { sql } from 'kysely';
import type { Backend, BackendOf, Call } from '../../contract/backend.ts';
import type { WriteKey } from '../../contract/caller.ts';
import { untilDeadline } from '../../contract/deadline.ts';
import {
  BackendUnavailableError,
  ErrorResponse,
  NotConfiguredError,
} from '../../contract/error.ts';
import { isSafe, type Operation, type Operations } from '../../contract/operation.ts';
import type { KeyedCaller } from '../../keys/api-key.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { nextTurn } from '../../limits/turns.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';
import { createApiKeyCheck } from './api-key-check.ts';
import { engineOf, openDatabase } from './database.ts';
import { createDemoKeys, createStaging } from './demo-keys.ts';
import { storageFault } from './faults.ts';
import { createIdempotentWrites, inDoubt } from './idempotent-writes.ts';
import { whenFree } from './locks.ts';
import { lockTables } from './migrations.ts';
import type { AnyStore, Statement } from './store.ts';
import type { Query } from './tables.ts';
import { takePlace } from './take-place.ts';

/** Options of the built-in backend. */
export interface BuiltinOptions {
  /** `file:PATH`, `:memory:` or `postgres://…`. */
  readonly databaseUrl: string;
  /** Set only for a demo: accepts this key and the others of a demo, and fills an empty database. */
  readonly demoKey: string | undefined;
  /** The time that a call may wait in the queue, and that `demo-timeout` takes, in milliseconds. */
  readonly timeoutMs: number;
  /** The most connections to PostgreSQL; 10 by default. */
  readonly poolSize?: number | undefined;
}

/** Opens the built-in backend: a contract on a SQL database, which it migrates. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the methods share the database and the check of keys.
export async function openBuiltinBackend<All extends Operations>(
  operations: All,
  store: AnyStore,
  { databaseUrl, demoKey, timeoutMs, poolSize = 10 }: BuiltinOptions,
  { log, metrics }: Reporting,
  keys: ApiKeys,
): Promise<BackendOf<All, KeyedCaller>> {
  const database = await openDatabase(databaseUrl, store, log, { poolSize, metrics });
  const engine = engineOf(databaseUrl);
  const firstRow = sql`select 1 from ${sql.table(store.mainTable)} limit 1`;
  if (demoKey) await whenFree(addDemoData, log);
  const demoKeys = createDemoKeys(store.demoKeys);
  const accepted = new Set(demoKey ? [demoKey, ...demoKeys.keys()] : []);
  const callStaged = createStaging(timeoutMs);
  const statements = store.open(database, engine, log);
  const writeOnce = createIdempotentWrites(engine);

  const places = keys.openPlaces('database', poolSize);
  metrics.watchLimit(places.inFlight);
  metrics.waitingQueries({}, () => places.waiting.used);

  /** Fills an empty database, once if several processes start at the same time. */
  async function addDemoData(): Promise<void> {
    await database.transaction().execute(async (transaction) => {
      await lockTables(transaction, engine);
      const { rows } = await firstRow.execute(transaction);
      if (rows.length === 0) await store.insertDemoData(transaction);
    });
  }

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

  /** Creates the method of an operation. */
  function methodOf(id: string, { method }: Operation): Call<KeyedCaller> {
    const { title, check, run } = statements[id] as Statement<never, unknown, unknown>;
    const isWrite = !isSafe(method);

    async function make(caller: KeyedCaller, value: unknown, write?: WriteKey): Promise<unknown> {
      const { key, requestId } = caller;
      const deadlineAt = performance.now() + timeoutMs;
      const checked = guard(requestId, false, () => checkApiKey(caller, deadlineAt));
      await untilDeadline(caller, () => false, checked);
      keys.accept(key);
      const staged = accepted.has(key.credential) ? demoKeys.get(key.credential) : undefined;
      // SQLite writes inside the event loop, and ends when the disk has it.
      if (isWrite) await nextTurn(caller);
      if (caller.cancelled) throw caller.cancelled;
      const start = performance.now();
      const endSpan = caller.trace?.startQuery(title, databaseUrl);
      let errorType: string | undefined;
      // A call with a demo key stands for one that a service has received.
      let isSent = staged !== undefined;
      const mayBeDone = () => isWrite && isSent;
      try {
        const call = { isEmpty: staged?.isEmpty === true, requestId };
        const query: Query<unknown> = (connection) => {
          isSent = true;
          if (write === undefined) return run(connection as never, value, call);
          return writeOnce(connection, caller, write, (transaction) =>
            run(transaction as never, value, call),
          );
        };
        const guarded = () => {
          // Needs no connection.
          check?.(value);
          return guard(requestId, isWrite, () => send(caller, deadlineAt, query));
        };
        const work = staged ? callStaged(staged, caller, id, isWrite, guarded) : guarded();
        return await untilDeadline(caller, mayBeDone, work);
      } catch (error) {
        const { name, cause = error } = error as Error;
        const { code = name } = cause as NodeJS.ErrnoException;
        if (!(error instanceof ErrorResponse)) errorType = code;
        throw error;
      } finally {
        endSpan?.(errorType);
        metrics.databaseQueries.observe({ operation: id }, (performance.now() - start) / 1000);
      }
    }

    // The transaction of a repetition may be in flight.
    return (caller, value, write) =>
      write ? inDoubt(engine, make(caller, value, write)) : make(caller, value);
  }

  const methods = Object.entries(operations).map(([id, one]) => [id, methodOf(id, one)]);
  const backend: Backend<KeyedCaller> = {
    isBuiltin: true,
    send: () => Promise.reject(new NotConfiguredError(noService)),
    async checkReady() {
      await guard('readyz', false, () => firstRow.execute(database));
    },
    [Symbol.asyncDispose]: () => database.destroy(),
  };
  return Object.assign(backend, Object.fromEntries(methods));
}

const noService =
  'This field calls another path of the REST service: expected one in PETSTORE_BASE_URL, received none.';
