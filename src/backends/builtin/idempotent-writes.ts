import type { Caller, WriteKey } from '../../contract/caller.ts';
import { IdempotencyKeyReusedError } from '../../contract/error.ts';
import { nameOfWrite } from '../../contract/idempotency.ts';
import { asUnknown, outcomeOf } from '../../writes/result.ts';
import { isLocked } from './faults.ts';
import { timeAfter } from './stored-api-keys.ts';
import type { Database, Engine } from './tables.ts';

/** How long a write is remembered at least, in milliseconds. */
const keptMs = 24 * 3_600_000;

/** The most writes that one transaction removes, and the pause after one that removed fewer. */
const removal = { batchSize: 100, pauseMs: 1000 };

/** Undoes a write, because a repetition of it has been done in the meantime. */
const isDone = new Error('The write is done');

/** Fails as the work does, but an earlier attempt may have done the write if the database could not be asked. */
export function inDoubt<T>(engine: Engine, work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    // SQLite has looked, unless another process has locked it.
    const isKnown = engine === 'sqlite' && !isLocked(error.cause ?? error);
    if (isKnown || outcomeOf(error) !== 'NOT_DONE' || error.status < 503) throw error;
    const message = error.message.replace(' Nothing was stored.', '');
    throw Object.assign(asUnknown(error), { message });
  });
}

/**
 * Returns a function that does a write and remembers its record in one transaction. A repetition resolves
 * to that record, after it has waited for a transaction in flight. A write whose transaction was not
 * committed is done. Rejects with IdempotencyKeyReusedError if the fingerprint differs.
 */
export function createIdempotentWrites(engine: Engine) {
  let removeAt = 0;

  async function removeExpired(transaction: Database): Promise<void> {
    const now = performance.now();
    if (now < removeAt) return;
    const expired = transaction
      .selectFrom('writes')
      .select('id')
      .where('created_at', '<', timeAfter(-keptMs))
      .orderBy('created_at')
      .limit(removal.batchSize)
      // Waits for no other transaction, which may remove the same ones.
      .$if(engine === 'postgres', (query) => query.forUpdate().skipLocked());
    const removed = transaction.deleteFrom('writes').where('id', 'in', expired);
    const { numDeletedRows } = await removed.executeTakeFirstOrThrow();
    if (numDeletedRows < removal.batchSize) removeAt = now + removal.pauseMs;
  }

  /** @param insert does the write; all fields of its record are text, which JSON keeps exactly */
  return async function writeOnce<T>(
    connection: Database,
    caller: Caller,
    write: WriteKey,
    insert: (transaction: Database) => Promise<T>,
  ): Promise<T> {
    const id = nameOfWrite(caller, write);
    const { fingerprint } = write;
    for (;;) {
      const first = await connection
        .selectFrom('writes')
        .select(['fingerprint', 'record'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (first !== undefined) {
        if (first.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
        caller.isReplayed = true;
        return JSON.parse(first.record) as T;
      }
      try {
        return await connection.transaction().execute(async (transaction) => {
          const written = await insert(transaction);
          const record = JSON.stringify(written ?? null);
          const { numInsertedOrUpdatedRows } = await transaction
            .insertInto('writes')
            .values({ id, fingerprint, record, created_at: timeAfter(0) })
            // Waits for the transaction of a repetition in flight.
            .onConflict((conflict) => conflict.column('id').doNothing())
            .executeTakeFirstOrThrow();
          if (numInsertedOrUpdatedRows === 0n) throw isDone;
          await removeExpired(transaction);
          return written;
        });
      } catch (error) {
        if (error !== isDone) throw error;
      }
    }
  };
}
