import { setTimeout as wait } from 'node:timers/promises';
import { type BackendOptions, coalesceReads, openPetStore } from '../backends/open.ts';
import { createAdmin } from '../server/admin.ts';
import { createGateway, type GatewayOptions } from '../server/gateway.ts';
import { createHealth } from '../server/health.ts';
import { type ListenOptions, listen } from '../server/listen.ts';
import {
  openPersistedDocuments,
  type PersistedDocumentsOptions,
} from '../server/persisted-documents.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { banner } from './banner.ts';

/** What the gateway serves and where. */
export interface ServeOptions
  extends ListenOptions,
    Pick<GatewayOptions, 'graphiql' | 'introspection' | 'corsOrigins' | 'operationLimits'> {
  readonly backend: BackendOptions;
  readonly persistedDocuments: PersistedDocumentsOptions;
  /** Answer equal reads in flight with one call. */
  readonly coalesceReads: boolean;
  /** A port for `/metrics` and health, apart from the public one. */
  readonly adminPort: number | undefined;
  /** How long requests in flight may finish after `stop`, in milliseconds. */
  readonly shutdownGraceMs: number;
}

/** A running gateway. */
export interface Service {
  /** The base address, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** What a person at a terminal wants to see first. */
  readonly banner: string;
  /** Rejects with the reason when the backend can't be expected to answer. */
  checkReady(): Promise<void>;
  /** Stops accepting, finishes what is in flight, then closes the backend. */
  stop(): Promise<void>;
}

/** Opens the backend and serves it. @throws when the backend or an address can't be had. */
export async function serve(options: ServeOptions, telemetry: Telemetry): Promise<Service> {
  const opened = new AsyncDisposableStack();
  try {
    return await open(options, telemetry, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function open(
  options: ServeOptions,
  telemetry: Telemetry,
  opened: AsyncDisposableStack,
): Promise<Service> {
  const { backend, adminPort, shutdownGraceMs } = options;
  const { metrics } = telemetry;
  opened.use(telemetry.tracing);
  const persistedDocuments = await openPersistedDocuments(options.persistedDocuments);
  const backing = opened.use(await openPetStore(backend, telemetry));
  const petStore = options.coalesceReads ? coalesceReads(backing, metrics) : backing;
  let isDraining = false;
  const health = createHealth({
    checkReady: () => petStore.checkReady(),
    isDraining: () => isDraining,
  });
  const gateway = createGateway({
    ...options,
    persistedDocuments,
    petStore,
    telemetry,
    health,
    v1: backend.kind === 'builtin',
    demoKey: backend.kind === 'builtin' ? backend.demoKey : undefined,
  });
  const listener = await listen(gateway, options, telemetry);
  opened.defer(() => listener.close(0));
  let adminUrl: string | undefined;
  if (adminPort !== undefined) {
    const admin = createAdmin(metrics, health);
    const { url, close } = await listen(admin, { ...options, port: adminPort }, telemetry);
    opened.defer(() => close(0));
    adminUrl = url;
  }
  return {
    url: listener.url,
    banner: banner(listener.url, adminUrl, options),
    checkReady: () => petStore.checkReady(),
    async stop() {
      isDraining = true;
      const grace = wait(shutdownGraceMs, undefined, { ref: false });
      await listener.close(shutdownGraceMs);
      // Writes whose clients are gone run to their end, and traces are sent, within the grace.
      await Promise.race([opened.disposeAsync(), grace]);
    },
  };
}
