import { type BackendOptions, coalesceReads, openPetStore } from './backends/open.ts';
import type { PetStore } from './contract/pet-store.ts';
import type { HttpHandler } from './http/message.ts';
import { createRefuse } from './http/refuse.ts';
import { createGraphiql, createGraphiqlNotice } from './server/graphiql.ts';
import { createEngine, type EngineOptions } from './server/graphql/engine.ts';
import { createGraphqlHandler, type GraphqlHandlerOptions } from './server/graphql/handler.ts';
import {
  openPersistedDocuments,
  type PersistedDocuments,
  type PersistedDocumentsOptions,
} from './server/graphql/persisted-documents.ts';
import { createHealth, type Health } from './server/health.ts';
import type { LocalExecution } from './server/local-caller.ts';
import { createLocalExecution } from './server/local-execute.ts';
import { createRouter, type RouterOptions } from './server/router.ts';
import type { createV1 } from './v1/routes.ts';

/** Options that apply in every server. */
interface CommonOptions
  extends EngineOptions,
    Pick<GraphqlHandlerOptions, 'explain' | 'forwardHeaders'>,
    Pick<RouterOptions, 'corsOrigins'> {
  /** Serve GraphiQL to browsers. */
  readonly graphiql: boolean;
}

/** Options of `openApp`. */
export interface AppOptions extends CommonOptions {
  readonly backend: BackendOptions;
  /** Share one call among equal reads in flight. */
  readonly coalesceReads: boolean;
  readonly persistedDocuments: PersistedDocumentsOptions;
}

/** What the app receives from the process or server that it runs in. */
export interface AppContext
  extends Pick<RouterOptions, 'telemetry' | 'admission' | 'onlyLoopbackHosts'> {
  /** Whether the process is shutting down; undefined if the app is mounted in another server. */
  readonly isDraining: (() => boolean) | undefined;
  /** Creates the REST interface at `/v1` and `/quickstart`; undefined if it is not served. */
  readonly createV1: typeof createV1 | undefined;
}

/** The open resources and options that the app is assembled from. */
export interface AppParts extends CommonOptions, AppContext {
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
  /** The API key that GraphiQL and the reference page are prefilled with. */
  readonly demoKey: string | undefined;
}

/** The gateway without a listener. */
export interface App extends LocalExecution {
  /**
   * Handles HTTP requests to any path. Mounted in another server, it serves GraphQL at every path.
   */
  readonly handle: HttpHandler;
  /** Handles health checks; undefined if the app is mounted in another server. */
  readonly health: Health | undefined;
  /** Rejects with the reason if the backend is not available. */
  checkReady(): Promise<void>;
}

/** An app with its backend, which it closes when it is disposed. */
export interface OpenApp extends App, AsyncDisposable {
  /** Reads manifests and certificates again. Rejects, and changes nothing, if one is invalid. */
  reload(options: Pick<AppOptions, 'backend' | 'persistedDocuments'>): Promise<void>;
}

/** Opens the backend and assembles the app. */
export async function openApp(options: AppOptions, context: AppContext): Promise<OpenApp> {
  const { backend } = options;
  const { telemetry } = context;
  const persistedDocuments = await openPersistedDocuments(options.persistedDocuments);
  const opened = await openPetStore(backend, telemetry);
  const app = createApp({
    ...options,
    ...context,
    persistedDocuments,
    petStore: options.coalesceReads ? coalesceReads(opened, telemetry.metrics) : opened,
    demoKey: backend.kind === 'builtin' ? backend.demoKey : undefined,
    createV1: backend.kind === 'builtin' ? context.createV1 : undefined,
  });
  return {
    ...app,
    async reload(next) {
      const documents = await openPersistedDocuments(next.persistedDocuments);
      if (next.backend.kind === backend.kind) opened.reload?.(next.backend);
      // Another mode or backend needs a restart.
      const { mode } = persistedDocuments;
      if (documents.mode === mode) persistedDocuments.manifest = documents.manifest;
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Assembles GraphQL, the REST interface, health checks and routes around an open pet store. */
export function createApp(parts: AppParts): App {
  const { petStore, demoKey, telemetry, admission, isDraining } = parts;
  const { introspection, persistedDocuments } = parts;
  const reportError = (error: unknown, requestId: string) =>
    telemetry.log.error({ err: error, requestId }, 'unexpected error');
  const graphiql =
    persistedDocuments.mode === 'only'
      ? createGraphiqlNotice()
      : createGraphiql({ apiKey: demoKey, explain: parts.explain, introspection });
  const graphql = createGraphqlHandler({
    prepare: createEngine(parts),
    petStore,
    persistedDocuments,
    explain: parts.explain,
    forwardHeaders: parts.forwardHeaders,
    graphiql: parts.graphiql ? graphiql : undefined,
    reportError,
  });
  const checkReady = () => petStore.checkReady();
  const health = isDraining && createHealth(checkReady, isDraining);
  const refuse = createRefuse(telemetry);
  const handle = createRouter({
    telemetry,
    admission,
    refuse,
    graphql,
    health,
    v1: parts.createV1?.({ petStore, demoKey, reportError }),
    corsOrigins: parts.corsOrigins,
    onlyLoopbackHosts: parts.onlyLoopbackHosts,
    mounted: isDraining === undefined,
  });
  const localExecution = createLocalExecution({ telemetry, admission, refuse, graphql });
  return { handle, ...localExecution, health, checkReady };
}
