import { createYoga } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { createContext, type GatewayContext } from '../graphql/context.ts';
import { schema } from '../graphql/schema.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import { createDocumentCache } from './document-cache.ts';
import { graphiqlOptions, renderGraphiql } from './graphiql.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { useCompiledExecution } from './plugins/use-compiled-execution.ts';
import { useDeprecations } from './plugins/use-deprecations.ts';
import { useExactJson } from './plugins/use-exact-json.ts';
import { useHiddenSchema } from './plugins/use-hidden-schema.ts';
import { type OperationLimits, useOperationLimits } from './plugins/use-operation-limits.ts';
import { usePersistedDocuments } from './plugins/use-persisted-documents.ts';
import { usePrivateCaching } from './plugins/use-private-caching.ts';
import { useRequestRecord } from './plugins/use-request-record.ts';
import { type ReportError, useTypedErrors } from './plugins/use-typed-errors.ts';

/** What parsed and compiled documents may take, in bytes; those that are used keep their place. */
const maxCacheBytes = 32 * 1024 * 1024;

/** What GraphQL is served with. */
export interface YogaOptions {
  readonly petStore: PetStore;
  /** Serve GraphiQL to browsers. */
  readonly graphiql: boolean;
  /** Answer introspection, and suggest names where one is misspelt. */
  readonly introspection: boolean;
  readonly operationLimits: OperationLimits;
  readonly persistedDocuments: PersistedDocuments;
  /** Answer GraphQL at every address, and nothing else: another server has routed the request. */
  readonly mounted?: boolean;
  /** The key that GraphiQL and the reference page start with. */
  readonly demoKey?: string | undefined;
}

/** What Yoga and its plugins know of a request besides the request itself. */
export interface ServerContext {
  readonly requestId: string;
  readonly record: RequestRecord;
  /** The `Authorization` header as it arrived. */
  readonly authorization: string | null;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** Answers GraphQL requests; which addresses lead to it is for its caller to decide. */
export function openYoga(options: YogaOptions, reportError: ReportError) {
  const { petStore } = options;
  return createYoga<ServerContext, GatewayContext>({
    schema,
    context: ({ authorization, requestId, signal, record }) =>
      createContext({ petStore, authorization, requestId, signal, listener: record }),
    plugins: [
      useExactJson(),
      usePrivateCaching(),
      usePersistedDocuments(options.persistedDocuments),
      useOperationLimits(options.operationLimits),
      !options.introspection && useHiddenSchema(),
      useDeprecations(),
      useCompiledExecution(),
      // After all who may raise an error, so that each passes through it.
      useTypedErrors(reportError),
      // Last, so that it sees the errors as the client does.
      useRequestRecord(),
    ],
    parserAndValidationCache: {
      documentCache: createDocumentCache(maxCacheBytes),
      errorCache: createDocumentCache(maxCacheBytes / 16),
    },
    graphqlEndpoint: options.mounted ? '/*' : '/graphql',
    // Yoga's own Response is faster, but no `instanceof Response`, which other servers insist on.
    ...(options.mounted && { fetchAPI: { Response } }),
    graphiql: options.graphiql ? () => graphiqlOptions(options.demoKey) : false,
    renderGraphiQL: renderGraphiql,
    // The plugins above and the routes do these jobs.
    cors: false,
    maskedErrors: false,
    logging: false,
    multipart: false,
    maxRequestBodySize: false,
    landingPage: false,
    // Yoga answers every URL that ends like this one; with a space in it, none does.
    healthCheckEndpoint: ' ',
  });
}
