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

/** When the port closes while clients still connect, in milliseconds. */
const closing = {
  /** After this long without a new connection. */
  quiet: 20,
  /** This long after `close`, one turn of the event loop without a new connection is enough. */
  impatient: 300,
  /** This long after `close`, the port closes even if clients still connect. */
  end: 1000,
} as const;

/**
 * A turn counts as quiet only if it was this short, in milliseconds: others may hide new
 * connections.
 */
const shortTurnMs = 0.5;

/**
 * Resolves when every opened connection has been accepted: closing the port resets the others. Node
 * accepts one per turn of the event loop. Clients open connections in bursts, for example when
 * another process on the same port has closed it and responded, so one quiet turn may be in the
 * middle of one.
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
