import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';

/**
 * Sends probes from 64 clients, each over a new connection, and calls `stop` after two hundred
 * responses. Resolves when a connection is refused. @returns how each connection ended: with a status
 * or an error code.
 */
export async function probeUntilRefused(open: () => Socket, stop: () => void): Promise<string[]> {
  const endings = new Map<string, number>();
  const isRefused = () => endings.has('ECONNREFUSED') || endings.has('ENOENT');
  async function probeRepeatedly() {
    while (!isRefused()) {
      const socket = open();
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      const ending = await text(socket).then(
        (response) => response.slice(9, 12),
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    }
  }
  const clients = Array.from({ length: 64 }, probeRepeatedly);
  await vi.waitFor(() => expect(endings.get('200')).toBeGreaterThan(200), { timeout: 60_000 });
  stop();
  await Promise.all(clients);
  return [...endings.keys()].sort();
}
