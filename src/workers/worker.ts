import type { Service } from '../commands/serve.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Report, Request } from './messages.ts';

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
