import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, isAsyncIterable } from 'graphql-yoga';
import type { Backend } from '../contract/backend.ts';
import type { Calls } from '../graphql/calls.ts';
import type { ExplainedCalls } from '../graphql/explained-calls.ts';
import type { GraphqlContract } from '../graphql/graphql-contract.ts';
import type { Deprecation } from '../graphql/result-types.ts';
import { HttpError } from '../http/error.ts';
import type { RequestHead } from '../http/http-message.ts';
import { nextTurn } from '../limits/turns.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { RateLimit } from '../request/rate-limit.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { Delivery } from './delivery.ts';
import type { HostAdditions } from './host-additions.ts';
import type { GraphqlParams } from './host-context.ts';
import {
  type OperationContext,
  type OperationPlugin,
  type OperationState,
  own,
} from './operation-context.ts';
import { withoutBigints } from './params.ts';
import { type Extend, type ResultPart, stop } from './parts.ts';
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
  readonly graphql: GraphqlContract;
  readonly backend: Backend;
  readonly persistedDocuments: PersistedDocuments;
}

/** A document of more characters that is not known waits for a turn: validating 2,000 takes up to four ms. */
const longDocument = 250;

/** Executes the operation of a request. */
export type Execute = ReturnType<typeof createExecute>;

/** Creates the one way of an operation, which HTTP, Fetch and callers in the process share. */
export function createExecute(options: ExecuteOptions) {
  const { graphql, backend, persistedDocuments, rateLimit } = options;
  const { schema = graphql.schema } = options;
  const { accepted, others } = openDocuments();
  const finder = createDocumentFinder(persistedDocuments, options.telemetry);
  const { yoga, hooks, prepare } = createOperationServer(schema, options);
  // Yoga's server is a Proxy, which would bind it again for each request.
  const { getEnveloped } = yoga;

  /**
   * Executes the operation of a request in Yoga's pipeline. What has to wait waits before it.
   * @param delivery how deferred fragments are delivered; undefined for a whole result
   * @throws HttpError if the document has no operation of the name, or the request may not execute it
   */
  async function execute(request: GatewayRequest, given: GraphqlParams, delivery?: Delivery) {
    const { head, scope, report } = request;
    const text = finder.find(given, scope.key);
    if (typeof text !== 'string') return { errors: [text] };
    const params = hooks.any ? withoutBigints({ ...given, query: text }) : given;
    const known = accepted.get(text) ?? others.get(text);
    if (known === undefined && text.length > longDocument) await nextTurn(scope);
    const isExplained = options.explain && head.headers['x-petstore-explain'] === '1';
    const calls = new graphql.Calls(scope, backend, isExplained);
    calls.isPlain = hooks.seeResults;
    const state: OperationState = { request, text, known, delivery };
    const context: OperationContext = { petStore: calls, params, [own]: state };
    if (hooks.any) context.request = requestOf(head);
    const pipeline = getEnveloped(context);
    try {
      const document = pipeline.parse(text);
      const errors: readonly GraphQLError[] = pipeline.validate(pipeline.schema, document);
      if (errors.length > 0) return { errors };
      const prepared = prepare({ document, schema: pipeline.schema });
      const operation = prepared.find(params.operationName);
      if (!operation) throw unknownOperation(prepared.operationNames, params);
      report.operation = operation.label;
      checkMethod(operation, head.method);
      if (operation.isDeferred || operation.isIntrospection) await nextTurn(scope);
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
      const isParsed = prepared.document === state.parsed;
      if (isParsed && cache.peek(text) !== prepared) cache.set(text, prepared);
      finder.executed(given, request);
      const extend = extender(operation.deprecations, calls.explained);
      if (!isAsyncIterable(result)) return extend?.(result) ?? result;
      if (delivery !== undefined)
        return { parts: result, delivery, extend, isDeferred: result === state.executed };
      // Of a plugin: other operations have parts only if the client accepts them.
      stop(result[Symbol.asyncIterator]());
      throw new HttpError(406, 'NOT_ACCEPTABLE', 'accept: expected a type for parts.');
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }

  /** Disposes the plugins. */
  return Object.assign(execute, { [Symbol.asyncDispose]: async () => yoga.dispose() });
}

/** Makes a read, so that the backend accepts the key. @throws GraphQLError if it does not. */
function acceptKey(calls: Calls): Promise<unknown> {
  return calls.probe('__schema').catch((originalError: Error) => {
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

/** Returns the request as plugins read it. That of a caller in the process is a POST. HTTP/2 has names with colons. */
function requestOf({ scheme, method, path, search, headers }: RequestHead) {
  const isHeader = ([name, text]: unknown[]) =>
    text && !/^:|[^ -~\x80-\xff]/.test(`${name}${text}`);
  const entries = Object.entries(headers).filter(isHeader);
  return {
    method: scheme ? method : 'POST',
    url: `${scheme ?? 'http'}://${headers['host'] ?? headers[':authority'] ?? 'localhost'}${path || '/graphql'}${search ? `?${search}` : ''}`,
    headers: new Headers(entries as [string, string][]),
  };
}

/** Returns what adds our extensions after the pipeline, where no plugin keeps them for others. */
function extender(
  deprecations: readonly Deprecation[],
  explained?: ExplainedCalls,
): Extend | undefined {
  if (deprecations.length === 0 && explained === undefined) return undefined;
  return (entry) => {
    // Not if nothing was executed, and only in the first part.
    const isFirst = 'data' in entry;
    const calls = (isFirst || 'hasNext' in entry) && explained && { calls: explained.list() };
    const deprecated = isFirst && deprecations.length > 0 && { deprecations };
    const extensions = { ...(entry as ExecutionResult).extensions, ...deprecated, ...calls };
    return Object.keys(extensions).length === 0 ? entry : { ...entry, extensions };
  };
}

/**
 * Creates the Yoga server whose pipeline (`getEnveloped`) executes every operation, without its HTTP
 * handling. `hooks`: what those of the host read, also of plugins that they add.
 */
function createOperationServer(
  schema: GraphQLSchema,
  { plugins = [], telemetry, ...options }: ExecuteOptions,
) {
  const hooks = { any: false, seeResults: false };
  const { plugin: first, prepare } = usePreparedDocuments(options, hooks);
  const last: OperationPlugin = {
    onPluginInit({ plugins: all }) {
      const added = all.slice(all.indexOf(first) + 1, all.indexOf(last)).map(Object);
      hooks.any = added.length > 0;
      const names = added.flatMap((one) => Object.keys({ ...one, ...one.instrumentation }));
      hooks.seeResults = names.some((name) => /^on(?:Execute|SchemaChange)$/.test(name));
      const unused = names.filter((name) => httpHook.test(name));
      const problem = "hooks of plugins are not run, because HTTP is the gateway's own";
      if (unused.length > 0) telemetry.log.warn({ hooks: unused }, problem);
    },
  };
  const yoga = createYoga({
    schema,
    plugins: [first, ...plugins.flatMap((plugin) => plugin || []), last],
    // `usePreparedDocuments` caches documents, and the edge types and logs errors.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  return { yoga, hooks, prepare };
}

/** Hooks and instrumentation of Yoga's HTTP handling, such as `onRequest` and `operation`. */
const httpHook = /^(?:on(?:Req|Resp|Params|Result|ExecutionR|Subs)|operat|reques|result)/;
