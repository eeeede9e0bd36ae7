import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { HostAdditions } from './host-additions.ts';
import type { OperationPlugin } from './operation-context.ts';
import type { PreparedDocuments } from './prepared-documents.ts';
import { type DocumentOptions, usePreparedDocuments } from './use-prepared-documents.ts';

/** What documents may contain, and the plugins of a host. */
export interface ServerOptions extends DocumentOptions, Pick<HostAdditions, 'plugins'> {
  readonly telemetry: Reporting;
}

/** Executes operations with the code that was compiled for them, or with graphql-js. */
const usePreparedOperation: OperationPlugin = {
  onExecute({ context: { operation }, setExecuteFn }) {
    if (operation !== undefined) setExecuteFn(operation.execute);
  },
};

/**
 * Creates the Yoga server whose pipeline executes every operation: `getEnveloped` returns its `parse`,
 * `validate`, `contextFactory` and `execute`. Its HTTP handling is not used.
 */
export function createOperationServer(
  schema: GraphQLSchema,
  documents: PreparedDocuments,
  options: ServerOptions,
) {
  const { plugins = [], telemetry } = options;
  warnOfHttpHooks(plugins, telemetry.log);
  return createYoga({
    schema,
    plugins: [
      usePreparedOperation,
      // They see each result before its errors are typed, and may wrap or replace the execution.
      ...plugins,
      // After all that add rules, because it skips what was validated with the same rules.
      usePreparedDocuments(documents, options),
    ],
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
