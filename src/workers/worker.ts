import cluster from 'node:cluster';
import type { Metrics } from '../telemetry/metrics.ts';

/** A message from the primary to a worker. All but `stop` need a reply with the same id. */
export type PrimaryMessage =
  | { readonly type: 'stop' }
  | { readonly type: 'ping' | 'metrics' | 'readiness' | 'reload'; readonly id: number };

/** A message from a worker to the primary. A worker is serving before it replies. */
export type WorkerMessage =
  | { readonly url: string }
  | { readonly id: number; readonly reply?: unknown; readonly problem?: string };

/** How long a worker that stops on its own waits for the primary, in milliseconds. */
const releaseTimeoutMs = 1000;

/** The options of a worker: the primary serves the admin port, and closes the port first. */
export const workerOptions = { adminPort: undefined, waitForPortRelease };

/**
 * Resolves when the primary has closed its handle of the port. If workers closed theirs first,
 * connections that arrive in between would never be accepted.
 */
function waitForPortRelease(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, releaseTimeoutMs).unref();
    process.on('message', (message: PrimaryMessage) => {
      if (message.type !== 'stop') return;
      // node:cluster reports a closed port to the primary just before it closes it, which lets
      // other processes run in between. Without a channel it doesn't report. It disconnects again
      // when the port is closed, and emits that error for the process and the worker; it is ignored.
      cluster.worker?.on('error', () => {});
      process.on('error', () => {}).disconnect?.();
      resolve();
    });
  });
}

/** Reports that this worker is serving, and handles messages. It ends when the primary is gone. */
export function connectToPrimary(
  { url, checkReady }: { readonly url: string; checkReady(): Promise<void> },
  metrics: Metrics,
  reload: () => Promise<void>,
  stop: () => void,
): void {
  const requests = {
    ping: async () => true,
    metrics: () => metrics.snapshot(),
    readiness: checkReady,
    reload,
  };
  process.on('message', async (message: PrimaryMessage) => {
    if (message.type === 'stop') return stop();
    const result = await requests[message.type]().then(
      (reply: unknown) => ({ reply }),
      (error: Error) => ({ problem: error.message }),
    );
    send({ id: message.id, ...result });
  });
  send({ url });
}

function send(message: WorkerMessage): void {
  // Errors are ignored: if the primary has just exited, so will this worker.
  if (process.connected) process.send?.(message, () => {});
}
