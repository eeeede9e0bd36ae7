import { type BackendOptions, demoKeys, openPetStore } from './backends/open.ts';
import { createGraphiql, createGraphiqlNotice } from './http/graphiql.ts';
import { createHealth } from './http/health.ts';
import { createRefuse } from './http/refuse.ts';
import { openRequests } from './request/gateway-request.ts';
import type { RequestEnvironment } from './request/request-environment.ts';
import { createRouter, type RouterOptions } from './request/router.ts';
import type { createV1 } from './v1/routes.ts';
import { createExecute, type ExecuteOptions } from './yoga/execute.ts';
import { createGraphqlHandler, type GraphqlHandlerOptions } from './yoga/handler.ts';
import { createLocalExecute } from './yoga/local-execute.ts';
import {
  openPersistedDocuments,
  type PersistedDocumentsOptions,
} from './yoga/persisted-documents.ts';

/** Options of `openApp`, with what the app receives from the process or server that it runs in. */
export interface AppOptions extends Omit<AppParts, 'petStore' | 'persistedDocuments' | 'demoKey'> {
  readonly backend: BackendOptions;
  readonly persistedDocuments: PersistedDocumentsOptions;
}

/** The open resources and options that the app is assembled from. */
export interface AppParts
  extends Omit<ExecuteOptions, 'telemetry' | 'admission'>,
    Pick<GraphqlHandlerOptions, 'forwardHeaders' | 'maxTimeoutMs'>,
    Pick<RouterOptions, 'corsOrigins' | 'compression' | 'admission' | 'onlyLoopbackHosts'>,
    RequestEnvironment {
  /** Serve GraphiQL to browsers. */
  readonly graphiql: boolean;
  /** The API key that GraphiQL and the reference page are prefilled with. */
  readonly demoKey: string | undefined;
  /** Whether the process is shutting down; undefined if the app is mounted in another server. */
  readonly isDraining?: () => boolean;
  /** Creates the REST interface at `/v1` and `/quickstart`; undefined if it is not served. */
  readonly createV1?: typeof createV1 | undefined;
}

/** Opens the backend and assembles the app. Disposing the app closes the backend. */
export async function openApp(options: AppOptions) {
  const { backend, telemetry, keys } = options;
  const persistedDocuments = await openPersistedDocuments(options.persistedDocuments);
  const opened = await openPetStore(backend, telemetry, keys);
  const app = createApp({
    ...options,
    persistedDocuments,
    petStore: opened,
    demoKey: backend.kind === 'builtin' ? backend.demoKey : undefined,
    createV1: backend.kind === 'builtin' ? options.createV1 : undefined,
  });
  return {
    ...app,
    /** Reads manifests and certificates again. Rejects, and changes nothing, if one is invalid. */
    async reload(next: Pick<AppOptions, 'backend' | 'persistedDocuments'>) {
      const documents = await openPersistedDocuments(next.persistedDocuments);
      if (next.backend.kind === backend.kind) opened.reload?.(next.backend);
      // Another mode or backend needs a restart.
      const { mode } = persistedDocuments;
      if (documents.mode === mode) persistedDocuments.manifest = documents.manifest;
    },
    async [Symbol.asyncDispose]() {
      await app.disposePlugins();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/**
 * Assembles GraphQL, the REST interface, health checks and routes around an open pet store. Mounted
 * in another server, the app has no health checks, and `handle` serves GraphQL at every path.
 */
export function createApp(parts: AppParts) {
  const { petStore, demoKey, telemetry, isDraining, introspection, explain } = parts;
  const graphiql =
    parts.persistedDocuments.mode === 'only'
      ? createGraphiqlNotice()
      : createGraphiql({
          apiKey: demoKey,
          demoKeys: demoKey ? demoKeys : undefined,
          explain,
          introspection,
        });
  const refuse = createRefuse(telemetry);
  const execute = createExecute(parts);
  const graphql = createGraphqlHandler({
    ...parts,
    execute,
    graphiql: parts.graphiql ? graphiql : undefined,
    refuse,
  });
  /** Rejects with the reason if the backend is not available. */
  const checkReady = () => petStore.checkReady();
  const health = isDraining && createHealth(checkReady, isDraining, telemetry.metrics);
  const handle = createRouter({
    ...parts,
    refuse,
    graphql,
    health,
    v1: parts.createV1?.({
      petStore,
      demoKey,
      refuse,
      takeCall: (key) => parts.admission.takeCalls(key, 1),
    }),
    mounted: isDraining === undefined,
  });
  const requests = openRequests(parts);
  const local = createLocalExecute({ ...parts, ...requests, refuse, execute });
  const disposePlugins = () => execute[Symbol.asyncDispose]();
  return { ...requests, handle, execute: local, health, checkReady, disposePlugins };
}
