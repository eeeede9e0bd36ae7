import { PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Log } from '../../telemetry/log.ts';
import { NotConnectedError } from './faults.ts';
import { isLocked, type OnLock } from './locks.ts';

/** How long PostgreSQL may take, in milliseconds. */
const timeouts = { connect: 2000, statement: 5000, query: 7000, lock: 100 };

/**
 * A Kysely dialect on PostgreSQL with a pool of ten connections. A connection that broke or went
 * silent is thrown away, so the pool finds its way back after a restart of the database by itself.
 */
export function postgresDialect(databaseUrl: string, log: Log, onLock: OnLock): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: timeouts.connect,
    // The server ends a statement; where the server itself is gone, the client does.
    statement_timeout: timeouts.statement,
    query_timeout: timeouts.query,
    ...(onLock === 'fail' ? { lock_timeout: timeouts.lock } : {}),
    keepAlive: true,
    application_name: 'petstore-gateway',
    types: { getTypeParser },
  });
  const onBroken = ({ name, message }: Error) =>
    log.warn({ error: name, reason: message }, 'a database connection broke');
  // The pool listens to its idle connections only; unheard, an error of any other ends the process.
  pool.on('error', onBroken).on('connect', (client) => client.on('error', onBroken));
  return new PostgresDialect({ pool: discardBroken(pool) });
}

/** int8 as a bigint; all other types as pg reads them. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8
    ? (text: string) => BigInt(text)
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

/** pg puts a connection back into the pool whose query it gave up on; the next would wait for it. */
function discardBroken(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect().catch((cause: NodeJS.ErrnoException) => {
        throw new NotConnectedError(cause.message || String(cause.code), { cause });
      });
      let broken = false;
      const query = async (sql: string, parameters: unknown[]) => {
        try {
          return await client.query(sql, parameters);
        } catch (error) {
          // A DatabaseError is the server's own word: the connection lives.
          broken ||= !(error instanceof pg.DatabaseError);
          // An import holds the ids that the session was given before: it asks for others.
          if (isLocked(error)) await client.query('discard sequences').catch(() => {});
          throw error;
        }
      };
      return { query, release: () => client.release(broken) } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}
