import { type BackendOptions, coalesceReads, openPetStore } from './backends/open.ts';
import type { PetStore } from './contract/pet-store.ts';
import type { HttpHandler } from './http/message.ts';
import type { Admission } from './server/admission.ts';
import { createGraphiql, createGraphiqlNotice } from './server/graphiql.ts';
import { createEngine, type EngineOptions } from './server/graphql/engine.ts';
import { createGraphqlHandler } from './server/graphql/handler.ts';
import {
  openPersistedDocuments,
  type PersistedDocuments,
  type PersistedDocumentsOptions,
} from './server/graphql/persisted-documents.ts';
import { createHealth, type Health } from './server/health.ts';
import { createLocalExecute, type LocalExecute } from './server/local-execute.ts';
import { createRouter } from './server/router.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { createV1 } from './v1/routes.ts';

/** What is served, by whatever server. */
interface ServedOptions extends EngineOptions {
  /** Serve GraphiQL to browsers. */
  readonly graphiql: boolean;
  /** The origins whose pages may call the gateway from a browser. */
  readonly corsOrigins: readonly string[];
}

/** What the app is opened from. */
export interface AppOptions extends ServedOptions {
  readonly backend: BackendOptions;
  /** Answer equal reads in flight with one call. */
  readonly coalesceReads: boolean;
  readonly persistedDocuments: PersistedDocumentsOptions;
}

/** Where the app runs. */
export interface Surroundings {
  readonly telemetry: Telemetry;
  readonly admission: Admission;
  /** Whether the process is on its way out; undefined in a server that is not ours. */
  readonly isDraining: (() => boolean) | undefined;
  /** Answer only requests whose Host is this machine. */
  readonly onlyLoopbackHosts: boolean;
}

/** What the app is assembled from, all of it open. */
export interface AppParts extends ServedOptions, Surroundings {
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
  /** The key that GraphiQL and the reference page start with. */
  readonly demoKey: string | undefined;
  /** Serve the store's REST interface at `/v1` and `/quickstart`. */
  readonly v1: boolean;
}

/** The gateway without a listener. */
export interface App {
  /** Answers HTTP requests to every address; in a server that is not ours, GraphQL at all of them. */
  readonly handle: HttpHandler;
  /** Executes operations of callers in this process. */
  readonly execute: LocalExecute;
  /** Answers health checks; undefined in a server that is not ours. */
  readonly health: Health | undefined;
  /** Rejects with the reason when the backend can't be expected to answer. */
  checkReady(): Promise<void>;
}

/** Opens the backend and assembles the app. Disposing of it closes the backend. */
export async function openApp(
  options: AppOptions,
  surroundings: Surroundings,
): Promise<App & AsyncDisposable> {
  const { backend } = options;
  const { telemetry, isDraining } = surroundings;
  const persistedDocuments = await openPersistedDocuments(options.persistedDocuments);
  const opened = await openPetStore(backend, telemetry);
  const app = createApp({
    ...options,
    ...surroundings,
    persistedDocuments,
    petStore: options.coalesceReads ? coalesceReads(opened, telemetry.metrics) : opened,
    demoKey: backend.kind === 'builtin' ? backend.demoKey : undefined,
    v1: backend.kind === 'builtin' && isDraining !== undefined,
  });
  return { ...app, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** Assembles GraphQL, REST interface, health and routes over an open pet store. */
export function createApp(parts: AppParts): App {
  const { petStore, demoKey, telemetry, admission, isDraining } = parts;
  const { introspection, persistedDocuments } = parts;
  const reportError = (error: unknown, requestId: string) =>
    telemetry.log.error({ err: error, requestId }, 'unexpected error');
  const graphiql =
    persistedDocuments.mode === 'only'
      ? createGraphiqlNotice()
      : createGraphiql({ apiKey: demoKey, introspection });
  const graphql = createGraphqlHandler({
    prepare: createEngine(parts),
    petStore,
    persistedDocuments,
    graphiql: parts.graphiql ? graphiql : undefined,
    reportError,
  });
  const checkReady = () => petStore.checkReady();
  const health = isDraining && createHealth({ checkReady, isDraining });
  const handle = createRouter({
    telemetry,
    admission,
    graphql,
    health,
    v1: parts.v1 ? createV1({ petStore, demoKey, reportError }) : undefined,
    corsOrigins: parts.corsOrigins,
    onlyLoopbackHosts: parts.onlyLoopbackHosts,
    mounted: isDraining === undefined,
  });
  const execute = createLocalExecute({ telemetry, admission, graphql });
  return { handle, execute, health, checkReady };
}
