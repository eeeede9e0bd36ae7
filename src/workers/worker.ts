import cluster from 'node:cluster';
import type { Service } from '../commands/serve.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/**
 * How long a worker that stops on its own waits for the primary to close the port, in milliseconds.
 */
const releaseTimeoutMs = 1000;

/**
 * Resolves when the primary has closed its handle of the port, which it does before it sends
 * `stop`. If workers closed theirs first, connections that arrive before the primary's is closed
 * would never be accepted.
 */
export function waitForPortRelease(): Promise<void> {
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

/**
 * Reports to the primary that this worker is serving, and handles its messages. node:cluster ends
 * the worker when the primary is gone.
 */
export function connectToPrimary(service: Service, metrics: Metrics, stop: () => void): void {
  process.on('message', async (message: PrimaryMessage) => {
    if (message.type === 'stop') return stop();
    const { type, id } = message;
    if (type === 'ping') return send({ type, id });
    if (type === 'metrics') return send({ type, id, metrics: await metrics.snapshot() });
    const problem = await service.checkReady().then(
      () => undefined,
      (error: Error) => error.message,
    );
    send({ type, id, problem });
  });
  send({ type: 'serving', url: service.url });
}

function send(message: WorkerMessage): void {
  // Errors are ignored: if the primary has just exited, so will this worker.
  if (process.connected) process.send?.(message, () => {});
}
