import { PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Log } from '../../telemetry/log.ts';
import { NotConnectedError } from './faults.ts';
import { isLocked, type OnLock } from './locks.ts';

/** Timeouts for PostgreSQL, in milliseconds. */
const timeouts = { connect: 2000, statement: 5000, query: 7000, lock: 100 };

/**
 * Creates a Kysely dialect for PostgreSQL with a pool of ten connections. Broken and unresponsive
 * connections are discarded, so the pool recovers by itself when the database restarts.
 */
export function postgresDialect(databaseUrl: string, log: Log, onLock: OnLock): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    connectionTimeoutMillis: timeouts.connect,
    // The server cancels a slow statement; the client gives up if the server does not respond.
    statement_timeout: timeouts.statement,
    query_timeout: timeouts.query,
    ...(onLock === 'fail' ? { lock_timeout: timeouts.lock } : {}),
    keepAlive: true,
    application_name: 'petstore-gateway',
    types: { getTypeParser },
  });
  const onBroken = ({ name, message }: Error) =>
    log.warn({ error: name, reason: message }, 'a database connection broke');
  // The pool handles errors of idle connections only; any other unhandled error ends the process.
  pool.on('error', onBroken).on('connect', (client) => client.on('error', onBroken));
  return new PostgresDialect({ pool: discardBroken(pool) });
}

/** Parses int8 as a bigint, and all other types as pg does. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8
    ? (text: string) => BigInt(text)
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

/** Discards connections after a query timeout; pg would return them to the pool, still busy. */
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
          // A DatabaseError was sent by the server, so the connection is intact.
          broken ||= !(error instanceof pg.DatabaseError);
          // An import uses ids of this session's block, so the session drops the block.
          if (isLocked(error)) await client.query('discard sequences').catch(() => {});
          throw error;
        }
      };
      return { query, release: () => client.release(broken) } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}
