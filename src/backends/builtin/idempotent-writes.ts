import { IdempotencyKeyReusedError } from '../../contract/error.ts';
import { nameOfWrite } from '../../contract/idempotency.ts';
import type { Caller, WriteKey } from '../../contract/pet-store.ts';
import { asUnknown, outcomeOf } from '../write-result.ts';
import type { Database } from './database.ts';
import { isLocked, storageFault } from './faults.ts';
import type { Engine } from './migrations.ts';
import { timeAfter } from './stored-api-keys.ts';

/** How long a write is remembered at least, in milliseconds. */
const keptMs = 24 * 3_600_000;

/** The most writes that one transaction removes, and the pause after one that removed fewer. */
const removal = { batchSize: 100, pauseMs: 1000 };

/** Undoes a write, because a repetition of it has been done in the meantime. */
const isDone = new Error('The write is done');

/** A write while calls of this process have it, and the number of transactions that may do it. */
type Flight = { calls: number; inDoubt: number };

/** Returns a function that makes a call's failure `UNKNOWN` while a transaction may do the same write. */
export function createFlights() {
  const flights = new Map<string, Flight>();
  return function follow<T>(caller: Caller, write: WriteKey, work: (flight: Flight) => Promise<T>) {
    const name = nameOfWrite(caller, write);
    const flight = flights.get(name) ?? { calls: 0, inDoubt: 0 };
    flights.set(name, flight);
    flight.calls++;
    const call = work(flight).catch((error) => {
      if (!flight.inDoubt || outcomeOf(error) !== 'NOT_DONE' || error.status < 500) throw error;
      const message = error.message.replace(' Nothing was stored.', '');
      throw Object.assign(asUnknown(error), { message });
    });
    return call.finally(() => --flight.calls || flights.delete(name));
  };
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
    flight: Flight,
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
      flight.inDoubt++;
      try {
        return await connection.transaction().execute(async (transaction) => {
          const written = await insert(transaction);
          const record = JSON.stringify(written);
          const { numInsertedOrUpdatedRows } = await transaction
            .insertInto('writes')
            .values({ id, fingerprint, record, created_at: timeAfter(0) })
            // Waits for the transaction of a repetition in flight.
            .onConflict((conflict) => conflict.column('id').doNothing())
            .executeTakeFirstOrThrow()
            .catch((error) => {
              // Behind PgBouncer, locks may have no timeout of their own.
              if (isLocked(error) || error.code === '57014') flight.inDoubt++;
              throw error;
            });
          if (numInsertedOrUpdatedRows === 0n) throw isDone;
          await removeExpired(transaction);
          return written;
        });
      } catch (error) {
        if (error === isDone) continue;
        if (outcomeOf(storageFault(error, true) ?? error) === 'NOT_DONE') flight.inDoubt--;
        throw error;
      }
    }
  };
}
