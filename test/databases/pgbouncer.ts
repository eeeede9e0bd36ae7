import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { account, freePort } from '../support/postgres.ts';
import { isInstalled, startProgram } from '../support/program.ts';

/** Whether PgBouncer is installed (Debian package `pgbouncer`). */
export const hasPgBouncer = isInstalled('pgbouncer');

/** Starts a PgBouncer in front of a PostgreSQL server. `own` are settings of pgbouncer.ini. */
export async function startPgBouncer(
  databaseUrl: string,
  poolMode: 'transaction' | 'session',
  own: Readonly<Record<string, string>> = {},
) {
  const server = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const users = join(folder, 'users.txt');
  await writeFile(users, `"${server.username}" "${server.password}"\n`);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: users,
    admin_users: server.username,
    pool_mode: poolMode,
    default_pool_size: '3',
    server_login_retry: '1',
    ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
    ...own,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const databases = `[databases]\n* = host=${server.hostname} port=${server.port}`;
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `${databases}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  const options = { ...account, cwd: folder };
  const program = await startProgram('pgbouncer', ['pgbouncer.ini'], /process up/, options);
  return {
    /** The `DATABASE_URL` of the same database behind PgBouncer. */
    behind(url: string): string {
      const bounced = new URL(url);
      bounced.port = String(port);
      return bounced.href;
    },
    async [Symbol.asyncDispose]() {
      await program.stop('SIGINT');
      await rm(folder, { recursive: true });
    },
  };
}
