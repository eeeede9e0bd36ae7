import { loadConfig } from '../../src/config/config.ts';
import { openPetStore } from '../../src/petstore/open.ts';
import type { Sampling } from '../../src/telemetry/trace.ts';
import { openTracing } from '../../src/telemetry/tracing.ts';
import { startCollector } from '../support/collector.ts';
import { owning } from '../support/dispose.ts';
import { openKeys, startGateway } from '../support/gateway.ts';
import { openTelemetry } from '../support/log.ts';

/** Starts a gateway with this environment's backend, whose traces are exported to a collector. */
export async function startTraced(env: Readonly<Record<string, string>>, sampling?: Sampling) {
  const collector = await startCollector();
  const { log, metrics, ...recorded } = openTelemetry();
  const tracing = await openTracing(new URL(`${collector.url}/v1/traces`), log, sampling);
  const telemetry = { log, metrics, tracing };
  const keys = openKeys();
  const petStore = await openPetStore(loadConfig(env).backend, telemetry, keys);
  const options = { petStore: { ...petStore, keys }, telemetry, explain: true };
  const gateway = await startGateway(options);
  return {
    url: gateway.url,
    gateway: gateway.gateway,
    metrics,
    ...recorded,
    /** Exports the spans of all requests so far, and returns them. */
    async spans() {
      await tracing[Symbol.asyncDispose]();
      return collector.spans;
    },
    ...owning(gateway, tracing, collector),
  };
}
