import type { Service } from '../commands/serve.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Report, Request } from './messages.ts';

/** How long a worker that ends alone waits for its primary to let go of the port, in milliseconds. */
const releaseMs = 1000;

/**
 * Resolves when the primary has let go of the port, which it has when it asks to stop. Where workers
 * close it first, nobody accepts the connections that come until the primary closes it too.
 */
export function primaryReleased(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, releaseMs).unref();
    process.on('message', (request: Request) => {
      if (request.ask !== 'stop') return;
      // node:cluster reports a closed port to the primary just before it closes it, which lets other
      // processes run in between. It disconnects again when the port is closed.
      process.on('error', () => {}).disconnect?.();
      resolve();
    });
  });
}

/**
 * Tells the primary that this worker serves, and does what it asks. A worker whose primary is gone
 * ends by itself: node:cluster sees to that.
 */
export function obeyPrimary(service: Service, metrics: Metrics, stop: () => void): void {
  process.on('message', async (request: Request) => {
    if (request.ask === 'stop') return stop();
    const { ask, id } = request;
    if (ask === 'ping') return report({ tell: ask, id });
    if (ask === 'metrics') return report({ tell: ask, id, metrics: await metrics.measured() });
    const problem = await service.checkReady().then(
      () => undefined,
      (error: Error) => error.message,
    );
    report({ tell: ask, id, problem });
  });
  report({ tell: 'serving', url: service.url });
}

function report(told: Report): void {
  // A primary that has just gone hears nothing, and the worker ends.
  if (process.connected) process.send?.(told, () => {});
}
