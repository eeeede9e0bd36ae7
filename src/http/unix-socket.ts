import { once } from 'node:events';
import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Parses `unix:/run/gateway.sock?mode=660` to path and mode; undefined for any other host. */
export function unixSocketOf(host: string) {
  const [, path, mode] = /^unix:([^?]+)(?:\?mode=([0-7]{3}))?$/.exec(host) ?? [];
  return path === undefined ? undefined : { path, mode };
}

/** Removes the socket file that a killed process has left. Call it before any process listens. */
export async function removeStaleSocket(host: string): Promise<void> {
  const unix = unixSocketOf(host);
  if (unix === undefined) return;
  const file = await lstat(unix.path).catch(() => undefined);
  if (!file?.isSocket()) return;
  const socket = connect(unix.path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') await unlink(unix.path);
  } finally {
    socket.destroy();
  }
}
