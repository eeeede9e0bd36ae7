import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { RateLimit } from '../request/rate-limit.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { HostAdditions } from './host-additions.ts';
import type { DocumentFinder } from './persisted-documents.ts';
import type { PreparedDocuments } from './prepared-documents.ts';
import { useCompiledExecution } from './use-compiled-execution.ts';
import { useDeprecations } from './use-deprecations.ts';
import { useExplain } from './use-explain.ts';
import { useIntrospectionKey } from './use-introspection-key.ts';
import { usePersistedDocuments } from './use-persisted-documents.ts';
import { type DocumentOptions, usePreparedDocuments } from './use-prepared-documents.ts';
import { useRate } from './use-rate.ts';

/** What operations may contain and do. */
export interface OperationOptions extends DocumentOptions, Pick<HostAdditions, 'plugins'> {
  /** The rate of the calls of each key; undefined for any number. */
  readonly rateLimit: RateLimit | undefined;
  readonly telemetry: Reporting;
  /** Whether callers may ask for their REST calls. */
  readonly explain: boolean;
}

/**
 * Creates the Yoga server whose pipeline executes every operation: `getEnveloped` returns its `parse`,
 * `validate`, `contextFactory` and `execute`. Its HTTP handling is not used.
 */
export function createOperationServer(
  schema: GraphQLSchema,
  documents: PreparedDocuments,
  finder: DocumentFinder,
  options: OperationOptions,
) {
  const { introspection, rateLimit, plugins = [] } = options;
  warnOfHttpHooks(plugins, options.telemetry.log);
  const mayRegister = finder.mode === 'allow' || finder.mode === 'audit';
  return createYoga({
    schema,
    plugins: [
      rateLimit !== undefined && useRate(rateLimit),
      introspection === 'keys' && useIntrospectionKey(),
      useCompiledExecution(),
      useDeprecations(),
      options.explain && useExplain(),
      mayRegister && usePersistedDocuments(finder, options.telemetry),
      // They see each result before its errors are typed, and may replace what the ones above set.
      ...plugins,
      // After all that add rules, because it skips what was validated with the same rules.
      usePreparedDocuments(documents, options),
    ].filter((plugin) => plugin !== false),
    // `usePreparedDocuments` caches documents, and the edge types and logs errors.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
}

/** Hooks of Yoga's HTTP handling, such as `onRequest`, `onParams` and `onResultProcess`. */
const httpHook = /^on(?:Request|Response|Params|ResultProcess|ExecutionResult)/;

function warnOfHttpHooks(plugins: readonly object[], log: Reporting['log']): void {
  const hooks = plugins
    .flatMap((plugin) => Object.keys(plugin))
    .filter((name) => httpHook.test(name));
  if (hooks.length === 0) return;
  log.warn(
    { hooks },
    'the gateway does not run these hooks of plugins, because its HTTP is its own',
  );
}
