import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, expect, it, vi } from 'vitest';
import { createAuthority } from '../support/authority.ts';
import { createFolder } from '../support/folder.ts';
import { nodeStart } from '../support/process.ts';
import { connectTo } from '../support/raw-http.ts';

type Started = Awaited<ReturnType<typeof nodeStart>>;

const folder = createFolder();
const authority = createAuthority();
afterAll(() => authority[Symbol.dispose]());
const { ca } = authority;
const { certFile, keyFile } = authority.issue('IP:127.0.0.1');

const socketPath = join(folder, 'gateway.sock');
const tls = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
const openTls = ({ url }: Started) => {
  const { hostname: host, port } = new URL(url);
  return connectTls({ host, port: Number(port), ca });
};

/**
 * Sends probes, each over a new connection, and ends the gateway after two hundred responses. Resolves
 * when a connection is refused. @returns how connections ended: with a status or an error code.
 */
async function probeUntilRefused(
  started: Started,
  open: (started: Started) => Socket,
): Promise<string> {
  const endings = new Map<string, number>();
  async function probeRepeatedly() {
    while (!endings.has('refused')) {
      const socket = open(started);
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      const ending = await text(socket).then(
        (response) => response.slice(9, 12),
        ({ code }: NodeJS.ErrnoException) => {
          const isRefused = code === 'ECONNREFUSED' || code === 'ENOENT';
          return isRefused ? 'refused' : `${code}`;
        },
      );
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    }
  }
  const clients = Array.from({ length: 64 }, probeRepeatedly);
  await vi.waitFor(() => expect(endings.get('200')).toBeGreaterThan(200));
  process.kill(started.pid, 'SIGTERM');
  await Promise.all(clients);
  return [...endings.keys()].sort().join(', ');
}

it.each<[where: string, WORKERS: string, env: object, open: (started: Started) => Socket]>([
  ['a port', '2', {}, ({ url }) => connectTo(url)],
  ['a Unix domain socket', '1', { HOST: `unix:${socketPath}` }, () => connect(socketPath)],
  ['a Unix domain socket', '2', { HOST: `unix:${socketPath}` }, () => connect(socketPath)],
  ['a port with TLS', '1', tls, openTls],
  ['a port with TLS', '2', tls, openTls],
])('a gateway on %s with %s processes resets no connection when it ends while clients open new ones', async (_, WORKERS, env, open) => {
  const endings: string[] = [];
  for (let round = 0; round < 3; round++) {
    await using started = await nodeStart({
      DATABASE_URL: `file:${folder}/pets.db`,
      DEMO: 'on',
      WORKERS,
      ...env,
    });
    expect(started.url, started.output.stderr).not.toBe('');
    endings.push(await probeUntilRefused(started, open));
    expect(await started.exited).toBe(0);
    expect(started.output.stderr).not.toContain('Error');
  }
  // One of the three may: the system resets what arrives between a process's last look for connections and
  // the end of its port, and a busy machine can interrupt it there.
  for (const ending of endings) expect(ending).toMatch(/^200(?:, (?:ECONNRESET|EPIPE))*, refused$/);
  const gentle = endings.filter((ending) => ending === '200, refused');
  expect(gentle.length, endings.join('; ')).toBeGreaterThanOrEqual(2);
});
