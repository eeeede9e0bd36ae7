import { Server } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * A server whose `close` resets no connections that clients have opened. node:cluster calls it too
 * when a worker disconnects.
 */
export class DrainingServer extends Server {
  /**
   * Resolves when the port is closed; undefined before `close`. Requests wait for it, because
   * clients open further connections after each response, and accepting would never catch up.
   */
  portClosed: Promise<void> | undefined;

  /** Awaited first; resolves when no other process holds the port without accepting. */
  waitForPortRelease: (() => Promise<unknown>) | undefined;

  override close(onClosed?: (error?: Error) => void): this {
    this.portClosed ??= Promise.resolve(this.waitForPortRelease?.()).then(() => allAccepted(this));
    this.portClosed.then(() => super.close(onClosed));
    return this;
  }
}

/**
 * When the port closes, in milliseconds: after `quiet` without a new connection; after `impatient`, as
 * soon as there is none in one turn of the event loop; after `end`, even if clients still connect.
 */
const closing = { quiet: 20, impatient: 300, end: 1000 } as const;

/** Longer turns of the event loop may hide new connections, in milliseconds. */
const shortTurnMs = 0.5;

/**
 * Resolves when every opened connection has been accepted: closing the port resets the others. Node
 * accepts one per turn of the event loop. Clients open connections in bursts, for example when
 * another process on the same port has closed it and responded, so one quiet turn may be in the
 * middle of a burst.
 */
async function allAccepted(server: Server): Promise<void> {
  const start = performance.now();
  let lastAccepted = start;
  server.on('connection', () => {
    lastAccepted = performance.now();
  });
  // The current turn may have accepted its connection already.
  await turn();
  for (let now = performance.now(); now - start < closing.end; ) {
    const began = now;
    await turn();
    now = performance.now();
    const isQuiet = lastAccepted < began && now - began < shortTurnMs;
    const isImpatient = now - start >= closing.impatient;
    if (isQuiet && (isImpatient || now - lastAccepted >= closing.quiet)) return;
  }
}
