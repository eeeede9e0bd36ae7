import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import type { nodeStart } from './process.ts';

type Started = Awaited<ReturnType<typeof nodeStart>>;

/**
 * Ends three gateways, one after the other, while 64 clients open connections, and expects that they
 * reset none. One of the three may: the system resets what arrives between a process's last look for
 * connections and the end of its port, and a busy machine can interrupt it there.
 */
export async function expectGentleEnds(
  start: () => Promise<Started>,
  open: (started: Started) => Socket,
): Promise<void> {
  const endings: string[] = [];
  for (let round = 0; round < 3; round++) {
    await using started = await start();
    expect(started.url, started.output.stderr).not.toBe('');
    endings.push(await probeUntilRefused(started, open));
    expect(await started.exited).toBe(0);
    expect(started.output.stderr).not.toContain('Error');
  }
  for (const ending of endings) expect(ending).toMatch(/^200(?:, (?:ECONNRESET|EPIPE))*, refused$/);
  const gentle = endings.filter((ending) => ending === '200, refused');
  expect(gentle.length, endings.join('; ')).toBeGreaterThanOrEqual(2);
}

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
