import { ClusterRegistry } from '@prometheus-io/client';
import type { Metrics } from '../telemetry/metrics.ts';

/** A message from a worker: that it serves, why it is not ready (empty if it is), or only that it runs. */
export type WorkerMessage = Readonly<Partial<Record<'url' | 'problem', string>>>;

/** Makes the metrics of this process part of those of all, which the primary reads. */
export function shareMetrics({ registry }: Metrics) {
  ClusterRegistry.setRegistries(registry);
  return new ClusterRegistry(ClusterRegistry.OPENMETRICS_CONTENT_TYPE);
}

/** Reports that this worker serves, and does what the primary asks. It ends when the primary is gone. */
export function connectToPrimary(
  { url, checkReady }: { readonly url: string; checkReady(): Promise<void> },
  stop: () => void,
): void {
  // Errors are ignored: if the primary has just exited, so will this worker.
  const send = (message: WorkerMessage) => process.connected && process.send?.(message, () => {});
  // Terminals and systemd signal workers, too. They wait for the primary, which closes the port first.
  for (const name of ['SIGTERM', 'SIGINT']) process.removeAllListeners(name).on(name, () => {});
  process.on('message', async (message) => {
    if (message === 'stop') stop();
    if (message !== 'isReady') return;
    const checked = checkReady().then(() => '');
    send({ problem: await checked.catch((error: Error) => error.message) });
  });
  setInterval(send, 1000, {}).unref();
  send({ url });
}
