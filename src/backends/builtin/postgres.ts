import {
  PostgresAdapter,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely';
import pg from 'pg';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { NotConnectedError } from './faults.ts';
import { isLocked, type OnLock } from './locks.ts';

/** Timeouts for PostgreSQL, in milliseconds. */
const timeouts = { connect: 2000, statement: 5000, query: 7000, lock: 100 };

/** Options of a pool of connections to PostgreSQL. */
export interface PoolOptions {
  readonly onLock?: OnLock | undefined;
  /** The most connections; 10 by default. */
  readonly poolSize?: number | undefined;
  readonly metrics?: Metrics | undefined;
}

/**
 * Creates a Kysely dialect for PostgreSQL with a pool of connections. Broken and unresponsive
 * connections are discarded, so the pool recovers by itself when the database restarts. It also
 * works behind PgBouncer in transaction mode.
 */
export function postgresDialect(databaseUrl: string, log: Log, options: PoolOptions) {
  const { onLock, poolSize } = options;
  // The server cancels a slow statement; the client gives up if the server does not respond.
  const settings = {
    statement_timeout: timeouts.statement,
    ...(onLock === 'fail' ? { lock_timeout: timeouts.lock } : {}),
  };
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: poolSize ?? 10,
    connectionTimeoutMillis: timeouts.connect,
    query_timeout: timeouts.query,
    ...settings,
    keepAlive: true,
    application_name: 'petstore-gateway',
    types: { getTypeParser },
  });
  const onBroken = ({ name, message }: Error) =>
    log.warn({ error: name, reason: message }, 'a database connection broke');
  // The pool handles errors of idle connections only; any other unhandled error ends the process.
  pool.on('error', onBroken).on('connect', (client) => client.on('error', onBroken));
  options.metrics?.watchPool(pool);
  return new SharedSessionDialect({ pool: createPool(pool, settings, log) });
}

/** Locks migrations in `migrate`, because Kysely's lock belongs to a session. */
class SharedSessionDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return Object.assign(new PostgresAdapter(), {
      acquireMigrationLock: async () => {},
      releaseMigrationLock: async () => {},
    });
  }
}

/** Parses int8 as a bigint, and all other types as pg does. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8
    ? (text: string) => BigInt(text)
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

/** The timeouts of statements, by the names of PostgreSQL's settings. */
type Settings = Readonly<Record<string, number>>;

/**
 * Adapts the pool to Kysely. PgBouncer refuses or drops the settings of connections; each transaction
 * then begins with them.
 */
function createPool(pool: pg.Pool, settings: Settings, log: Log): PostgresPool {
  let isBouncer: boolean | undefined;

  /** Connects, the first time also to find out whether the server has the settings. */
  async function connect(): Promise<pg.PoolClient> {
    const sendsSettings = !isBouncer;
    try {
      const client = await pool.connect();
      isBouncer ??= await dropsSettings(client);
      return client;
    } catch (cause) {
      const { message, code } = cause as NodeJS.ErrnoException;
      if (!sendsSettings || !/^unsupported startup parameter/.test(message)) {
        throw new NotConnectedError(message || String(code), { cause });
      }
      isBouncer = true;
      for (const name of Object.keys(settings)) Object.assign(pool.options, { [name]: undefined });
      log.debug('PgBouncer refuses the settings of connections; transactions begin with them');
      return connect();
    }
  }

  return {
    options: pool.options,
    connect: async () => {
      const client = await connect();
      const query = isBouncer ? queryInTransactions(client, settings) : queryOf(client);
      let broken = false;
      return {
        async query(sql: string, parameters: unknown[]) {
          try {
            return await query(sql, parameters);
          } catch (error) {
            // A DatabaseError was sent by the server, so the connection is intact. After a query
            // timeout it is not: pg would return it to the pool, still busy.
            broken ||= !(error instanceof pg.DatabaseError);
            // An import uses ids of this session's block, so the session drops the block.
            if (isLocked(error)) await client.query('discard sequences').catch(() => {});
            throw error;
          }
        },
        release: () => client.release(broken),
      } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

async function dropsSettings(client: pg.PoolClient): Promise<boolean> {
  try {
    const { rows } = await client.query('show statement_timeout');
    return rows[0].statement_timeout !== `${timeouts.statement / 1000}s`;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

type Query = (sql: string, parameters: unknown[]) => Promise<unknown>;

function queryOf(client: pg.PoolClient): Query {
  return (sql, parameters) => client.query(sql, parameters);
}

/**
 * Sends statements to PgBouncer in transaction mode, where the next statement may run in another
 * session: every write is in a transaction that begins with the settings.
 */
function queryInTransactions(client: pg.PoolClient, settings: Settings): Query {
  const locals = Object.entries(settings).map(([name, ms]) => `set local ${name} = ${ms}`);
  const begin = ['begin', ...locals].join('; ');
  let isOpen = false;
  return async (sql, parameters) => {
    if (/^create temporary/.test(sql)) {
      throw new Error(
        'An import needs a session, which PgBouncer does not keep in transaction mode. Set DATABASE_URL to the address of PostgreSQL itself. Nothing was imported.',
      );
    }
    if (/^(?:commit|rollback)$/.test(sql)) isOpen = false;
    else if (sql === 'begin') {
      isOpen = true;
      await client.query(begin);
      return { rows: [] };
    } else if (!isOpen && /^(?:insert|update|delete)/.test(sql)) {
      await client.query(begin);
      try {
        const result = await client.query(sql, parameters);
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch(() => {});
        throw error;
      }
    }
    return client.query(sql, parameters);
  };
}
