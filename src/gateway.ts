import { createGraphiql, createGraphiqlNotice } from './http/graphiql.ts';
import { createHealth } from './http/health.ts';
import { examples } from './petstore/examples.ts';
import { inputChecks, PetStoreCalls } from './petstore/graphql/calls.ts';
import { schema as ownSchema } from './petstore/graphql/schema.ts';
import { type BackendOptions, demoKeys, openPetStore } from './petstore/open.ts';
import { contract, type PetStore } from './petstore/operations.ts';
import { openRequests } from './request/gateway-request.ts';
import type { HeaderOptions } from './request/headers.ts';
import { createRouter, type RouterOptions } from './request/router.ts';
import type { RequestEnvironment } from './request/scope.ts';
import type { createV1 } from './v1/routes.ts';
import { createExecute, type OperationOptions } from './yoga/execute.ts';
import { createGraphqlHandler } from './yoga/handler.ts';
import type { HostAdditions } from './yoga/host-additions.ts';
import { createLocalExecute } from './yoga/local-execute.ts';
import {
  openPersistedDocuments,
  type PersistedDocuments,
  type PersistedDocumentsOptions,
} from './yoga/persisted-documents.ts';

/** The contract in GraphQL. */
const graphql = { schema: ownSchema, Calls: PetStoreCalls, inputChecks };

/** The settings of an app, and what it receives from the process or server that it runs in. */
export interface AppOptions
  extends HostAdditions,
    Pick<OperationOptions, 'operationLimits' | 'introspection' | 'explain' | 'rateLimit'>,
    HeaderOptions,
    Pick<RouterOptions, 'corsOrigins' | 'compression' | 'admission' | 'onlyLoopbackHosts'> {
  readonly environment: RequestEnvironment;
  /** Serve GraphiQL to browsers. */
  readonly graphiql: boolean;
  /** Whether the process is shutting down; undefined if the app is mounted in another server. */
  readonly isDraining?: () => boolean;
  /** Creates the REST interface at `/v1`; undefined if it is not served. */
  readonly createV1?: typeof createV1 | undefined;
}

/** What an app opens. */
export interface AppResources {
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
  /** The API key that GraphiQL and the reference page are prefilled with. */
  readonly demoKey: string | undefined;
}

/** What the resources of an app are opened from; `reload` reads their files again. */
export interface ResourceOptions {
  readonly backend: BackendOptions;
  readonly persistedDocuments: PersistedDocumentsOptions;
}

/** Opens the backend and assembles the app. Disposing the app closes the backend. */
export async function openApp(options: AppOptions & ResourceOptions) {
  const { backend, environment } = options;
  const persistedDocuments = await openPersistedDocuments(options.persistedDocuments);
  const petStore = await openPetStore(backend, environment.telemetry, environment.keys);
  const isBuiltin = backend.kind === 'builtin';
  const app = createApp(
    { ...options, createV1: isBuiltin ? options.createV1 : undefined },
    { petStore, persistedDocuments, demoKey: isBuiltin ? backend.demoKey : undefined },
  );
  return {
    ...app,
    /** Reads manifests and certificates again. Rejects, and changes nothing, if one is invalid. */
    async reload(next: ResourceOptions) {
      const documents = await openPersistedDocuments(next.persistedDocuments);
      if (next.backend.kind === backend.kind) petStore.reload?.(next.backend);
      // Another mode or backend needs a restart.
      const { mode } = persistedDocuments;
      if (documents.mode === mode) persistedDocuments.manifest = documents.manifest;
    },
    async [Symbol.asyncDispose]() {
      await app.disposePlugins();
      await petStore[Symbol.asyncDispose]();
    },
  };
}

/**
 * Assembles GraphQL, the REST interface, health checks and routes around an open pet store. Mounted
 * in another server, the app has no health checks, and `handle` serves GraphQL at every path.
 */
export function createApp(options: AppOptions, resources: AppResources) {
  const { environment, explain, introspection, isDraining } = options;
  const { petStore, persistedDocuments, demoKey } = resources;
  const { telemetry, streams } = environment;
  const execute = createExecute({
    ...options,
    telemetry,
    graphql,
    backend: petStore,
    persistedDocuments,
  });
  const hasGraphiql = options.graphiql && persistedDocuments.mode !== 'only';
  const graphiql = hasGraphiql
    ? createGraphiql({
        apiKey: demoKey,
        demoKeys: demoKey ? demoKeys : undefined,
        examples,
        explain,
        introspection,
        reference: options.createV1 !== undefined,
      })
    : createGraphiqlNotice();
  /** Rejects with the reason if the backend is not available. */
  const checkReady = () => petStore.checkReady();
  const health = isDraining && createHealth(checkReady, isDraining, telemetry.metrics);
  const requests = openRequests(environment);
  return {
    ...requests,
    handle: createRouter({
      ...options,
      telemetry,
      streams,
      health,
      graphql: createGraphqlHandler(execute, graphiql),
      v1: options.createV1?.({
        ...options,
        contract,
        backend: petStore,
        demoKey,
        graphiql: hasGraphiql,
      }),
      mounted: isDraining === undefined,
    }),
    execute: createLocalExecute({ ...options, ...requests, execute }),
    health,
    checkReady,
    disposePlugins: () => execute[Symbol.asyncDispose](),
  };
}
