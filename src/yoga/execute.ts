import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, isAsyncIterable } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { PetStoreCalls } from '../graphql/context.ts';
import { schema as ownSchema } from '../graphql/schema.ts';
import { HttpError } from '../http/error.ts';
import { nextTurn } from '../limits/turns.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { RateLimit } from '../request/rate-limit.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { Delivery } from './delivery.ts';
import type { HostAdditions } from './host-additions.ts';
import type { OperationContext, OperationPlugin } from './operation-context.ts';
import type { GraphqlParams } from './params.ts';
import type { ResultPart } from './parts.ts';
import { createDocumentFinder, type PersistedDocuments } from './persisted-documents.ts';
import { openDocuments } from './prepared-documents.ts';
import type { PreparedOperation } from './prepared-operation.ts';
import { type DocumentOptions, usePreparedDocuments } from './use-prepared-documents.ts';

/** What operations may contain and do. */
export interface OperationOptions extends DocumentOptions, Pick<HostAdditions, 'plugins'> {
  readonly telemetry: Reporting;
  /** The rate of the calls of each key; undefined for any number. */
  readonly rateLimit: RateLimit | undefined;
  /** Whether callers may ask for their REST calls. */
  readonly explain: boolean;
}

interface ExecuteOptions extends OperationOptions, HostAdditions {
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
}

/** A document of more characters that is not known waits for a turn: validating 2,000 takes up to four ms. */
const longDocument = 250;

/** Executes the operation of a request. */
export type Execute = ReturnType<typeof createExecute>;

/** Creates the one way of an operation, which HTTP, Fetch and callers in the process share. */
export function createExecute(options: ExecuteOptions) {
  const { schema = ownSchema, petStore, persistedDocuments, rateLimit } = options;
  const { accepted, others } = openDocuments();
  const finder = createDocumentFinder(persistedDocuments, options.telemetry);
  const yoga = createOperationServer(schema, options);
  // Yoga's server is a Proxy, which would bind it again for each request.
  const { getEnveloped } = yoga;

  /**
   * Executes the operation of a request in Yoga's pipeline. What has to wait waits before it.
   * @param delivery how deferred fragments are delivered; undefined for a whole result
   * @throws HttpError if the document has no operation of the name, or the request may not execute it
   */
  async function execute(request: GatewayRequest, params: GraphqlParams, delivery?: Delivery) {
    const { head, scope, report } = request;
    const text = finder.find(params, scope.key);
    if (typeof text !== 'string') return { errors: [text] };
    const known = accepted.get(text) ?? others.get(text);
    if (known === undefined && text.length > longDocument) await nextTurn(scope);
    const isExplained = options.explain && head.headers['x-petstore-explain'] === '1';
    const calls = new PetStoreCalls(scope, petStore, isExplained);
    const context: OperationContext = { petStore: calls, params, scope, report, prepared: known };
    const pipeline = getEnveloped(context);
    try {
      const document = pipeline.parse(text);
      const errors: readonly GraphQLError[] = pipeline.validate(pipeline.schema, document);
      if (errors.length > 0) return { errors };
      const { prepared } = context;
      const operation = prepared?.find(params.operationName);
      if (!prepared || !operation) throw unknownOperation(prepared?.operationNames ?? [], params);
      report.operation = operation.label;
      checkMethod(operation, head.method);
      if (operation.isDeferred || operation.isIntrospection) await nextTurn(scope);
      context.operation = operation;
      context.delivery = operation.isDeferred ? delivery : undefined;
      calls.isAlone = operation.calls === 1 && schema === ownSchema;
      if (rateLimit) await rateLimit.take(scope.key, operation.calls);
      if (operation.needsKey) await acceptKey(calls);
      const built = pipeline.contextFactory();
      const result: ExecutionResult | AsyncIterable<ResultPart> = await pipeline.execute({
        schema: pipeline.schema,
        document,
        contextValue: built instanceof Promise ? await built : built,
        variableValues: params.variables ?? {},
        operationName: params.operationName,
      });
      const cache = scope.key.isAccepted ? accepted : others;
      const isOwn = prepared.document.loc?.source.body === text;
      if (isOwn && cache.peek(text) !== prepared) cache.set(text, prepared);
      finder.executed(params, request);
      if (!isAsyncIterable(result)) return result;
      if (delivery !== undefined) return { parts: result, delivery };
      // Of a plugin: other operations have parts only if the client accepts them.
      throw new HttpError(406, 'NOT_ACCEPTABLE', 'accept: expected a type for parts.');
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }

  /** Disposes the plugins. */
  return Object.assign(execute, { [Symbol.asyncDispose]: async () => yoga.dispose() });
}

/** Lists one pet, so that the backend accepts the key. @throws GraphQLError if it does not. */
function acceptKey(calls: PetStoreCalls): Promise<unknown> {
  return calls.listPets({ limit: 1 }, '__schema').catch((originalError: Error) => {
    throw new GraphQLError(originalError.message, { originalError });
  });
}

function unknownOperation(
  names: readonly string[],
  { operationName: received }: GraphqlParams,
): HttpError {
  const quote = (name = '') => (name === '' ? 'none' : JSON.stringify(name.slice(0, 64)));
  const message = `operationName: expected ${names.slice(0, 10).map(quote).join(' or ')}, received ${quote(received)}. Upper and lower case differ.`;
  return new HttpError(400, 'OPERATION_RESOLUTION_FAILURE', message);
}

/** A link must not change data. @throws HttpError */
function checkMethod({ definition }: PreparedOperation, received: string): void {
  if (definition.operation === 'query' || !/^(?:GET|HEAD)$/.test(received)) return;
  const message = `Expected POST for a mutation, received ${received}. Send it as the JSON body of a POST.`;
  throw new HttpError(405, 'BAD_REQUEST', message, { allow: 'POST' });
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
function createOperationServer(
  schema: GraphQLSchema,
  { plugins = [], telemetry, ...options }: OperationOptions,
) {
  warnOfHttpHooks(plugins, telemetry.log);
  return createYoga({
    schema,
    plugins: [
      usePreparedOperation,
      // They see each result before its errors are typed, and may wrap or replace the execution.
      ...plugins,
      // After all that add rules, because it skips what was validated with the same rules.
      usePreparedDocuments(options),
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
