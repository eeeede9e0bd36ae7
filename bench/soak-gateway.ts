import { serve } from '../src/commands/serve.ts';
import { loadConfig } from '../src/config.ts';
import { createLog } from '../src/telemetry/log.ts';
import { Metrics } from '../src/telemetry/metrics.ts';
import { openTracing } from '../src/telemetry/tracing.ts';

// The gateway under load, in a process of its own: it serves until it is told to stop, and answers
// every message with what it holds.
const log = createLog('silent', process.stderr);
const service = await serve(loadConfig(process.env), {
  log,
  metrics: new Metrics(),
  tracing: await openTracing(undefined, log),
});

process.on('message', (message) => {
  if (message === 'stop') {
    void service.stop(new AbortController().signal).then(() => process.disconnect?.());
    return;
  }
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const held: Record<string, number> = {};
  for (const resource of process.getActiveResourcesInfo()) {
    held[resource] = (held[resource] ?? 0) + 1;
  }
  process.send?.({ rss, heapUsed, held });
});
process.send?.({ url: service.url });
