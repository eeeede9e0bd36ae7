import { serve } from '../src/cli/serve.ts';
import { loadConfig } from '../src/config/config.ts';
import { createLog } from '../src/telemetry/log.ts';
import { Metrics } from '../src/telemetry/metrics.ts';
import { openTracing } from '../src/telemetry/tracing.ts';

// The gateway under test, in its own process. It stops on the message 'stop' and replies to every
// other message with its memory usage and active resources.
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
  const resources: Record<string, number> = {};
  for (const resource of process.getActiveResourcesInfo()) {
    resources[resource] = (resources[resource] ?? 0) + 1;
  }
  process.send?.({ rss, heapUsed, resources });
});
process.send?.({ url: service.url });
