import {
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely';
import pg from 'pg';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { isLocked, NotConnectedError } from './faults.ts';

/** Timeouts for PostgreSQL, in milliseconds. */
const timeouts = { connect: 2000, statement: 5000, idle: 5000, query: 7000, lock: 100 };

/**
 * What a gateway opens a database with. Its statements fail within 100 ms if another session holds a
 * lock, and `whenFree` retries them: one that waited would block the event loop on SQLite, and a
 * connection of the pool on PostgreSQL. Without it, as for commands, statements wait.
 */
export interface ServerOptions {
  /** The most connections to PostgreSQL. */
  readonly poolSize: number;
  readonly metrics: Metrics;
}

/**
 * Creates a Kysely dialect for PostgreSQL with a pool of connections. Broken and unresponsive
 * connections are discarded, so the pool recovers by itself when the database restarts. It also
 * works behind PgBouncer in transaction mode, which has to ignore the settings.
 */
export function postgresDialect(databaseUrl: string, log: Log, server?: ServerOptions) {
  // The server cancels a slow statement; the client gives up if the server does not respond.
  const settings = {
    statement_timeout: timeouts.statement,
    // A gateway whose host was lost locks nothing for long.
    idle_in_transaction_session_timeout: timeouts.idle,
    ...(server ? { lock_timeout: timeouts.lock } : {}),
  };
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, BigInt);
  const pool = new pg.Pool({
    // The authorities that are trusted anyway, with which other clients always verify the host name. The last mode counts.
    connectionString: databaseUrl.replace(
      /\bsslrootcert=system(?=&|$)(.*)/,
      '$1&sslmode=verify-full',
    ),
    max: server?.poolSize ?? 10,
    connectionTimeoutMillis: timeouts.connect,
    query_timeout: timeouts.query,
    ...settings,
    keepAlive: true,
    application_name: 'petstore-gateway',
    types,
  });
  const onBroken = ({ name, message }: Error) =>
    log.warn({ error: name, reason: message }, 'a database connection broke');
  // The pool handles errors of idle connections only; any other unhandled error ends the process.
  pool.on('error', onBroken).on('connect', (client) => client.on('error', onBroken));
  server?.metrics.databaseConnections({ state: 'used' }, () => pool.totalCount - pool.idleCount);
  server?.metrics.databaseConnections({ state: 'idle' }, () => pool.idleCount);
  // `migrate` has a lock of its own, because Kysely's belongs to a session.
  const noLock = async () => {};
  const locks = { acquireMigrationLock: noLock, releaseMigrationLock: noLock };
  const createAdapter = () => Object.assign(new PostgresAdapter(), locks);
  return Object.assign(new PostgresDialect({ pool: createPool(pool) }), { createAdapter });
}

/**
 * Adapts the pool to Kysely. Connections are discarded after a query timeout; pg would return them to the
 * pool, still busy.
 */
function createPool(pool: pg.Pool): PostgresPool {
  /** When a server last was read-only. After a failover, older connections lead to the same one. */
  let readOnlyAt = 0;
  const openedAt = new WeakMap<pg.ClientBase, number>();
  pool.on('connect', (client) => openedAt.set(client, performance.now()));

  async function connect(): Promise<pg.PoolClient> {
    const client = await pool.connect().catch((cause) => {
      throw new NotConnectedError(cause.message || String(cause.code), { cause });
    });
    if (Number(openedAt.get(client)) >= readOnlyAt) return client;
    client.release(true);
    return connect();
  }

  function openSession(client: pg.PoolClient) {
    let broken = false;
    let failure: unknown;
    // If an import uses ids of this session's block. A failed transaction refuses it until it ends.
    const dropIds = () => client.query('discard sequences').catch(() => {});
    /** Never fails: the end of the connection rolls back, too. One that does not respond is not called. */
    async function rollBack() {
      if (!broken) await client.query('rollback').catch(() => (broken = true));
      if (!broken && failure && isLocked(failure)) await dropIds();
      return { command: 'ROLLBACK', rows: [] };
    }
    return {
      async query(sql: string, parameters: unknown[]): Promise<unknown> {
        if (sql === 'rollback') return rollBack();
        if (broken) throw failure;
        try {
          return await client.query(sql, parameters);
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException;
          // Kysely's migrator sends statements after the one that has failed the transaction.
          if (code === '25P02') throw failure ?? error;
          failure = error;
          const isReadOnly = code === '25006';
          // At most once a second: a database may stay read-only.
          if (isReadOnly && performance.now() > readOnlyAt + 1000) readOnlyAt = performance.now();
          // A server that sends an error keeps the connection, unless the error is fatal.
          broken ||=
            isReadOnly || !(error instanceof pg.DatabaseError) || error.severity === 'FATAL';
          if (isLocked(error)) await dropIds();
          throw error;
        }
      },
      release: () => client.release(broken),
    };
  }

  return {
    options: pool.options,
    connect: async () => openSession(await connect()) as PostgresPoolClient,
    end: () => pool.end(),
  };
}
