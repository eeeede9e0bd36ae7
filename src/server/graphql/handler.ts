import { type GraphQLError, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { PetStore } from '../../contract/pet-store.ts';
import { createContext } from '../../graphql/context.ts';
import { createExplainedContext } from '../../graphql/explained-context.ts';
import { HttpError } from '../../http/error.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../../http/message.ts';
import type { Refuse } from '../../http/refuse.ts';
import { nextSlice } from '../../limits/slices.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { GraphiqlPage } from '../graphiql.ts';
import { type Delivery, encodeParts } from './encoded-parts.ts';
import { type EncodedResult, type EngineResult, encodeResult } from './encoded-result.ts';
import type { PrepareDocument } from './engine.ts';
import { pickHeaders } from './forwarded-headers.ts';
import { type GraphqlParams, readParams } from './params.ts';
import { createFindDocument, type PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocument, PreparedOperation } from './prepared-document.ts';
import { readDelivery, toResponse } from './response.ts';

/**
 * The memory limits of cached documents, including their compiled code, in bytes; one document may
 * take a quarter. Those of callers whose key the backend has not accepted have their own, so that
 * they cannot evict others.
 */
const maxCacheBytes = { accepted: 32 * 1024 * 1024, others: 512 * 1024 };

/**
 * A document of more characters that is not cached waits for a slice, because validating it may
 * take milliseconds.
 */
const longDocument = 2000;

/** Options of `createGraphqlHandler`. */
export interface GraphqlHandlerOptions {
  readonly prepare: PrepareDocument;
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
  /** Whether callers may ask for their REST calls. */
  readonly explain: boolean;
  /** The names of the headers that are passed on to the REST service, in lower case. */
  readonly forwardHeaders: readonly string[] | undefined;
  /** The page for browsers; undefined if it is turned off. */
  readonly graphiql: GraphiqlPage | undefined;
  /** Logs unexpected errors. */
  readonly refuse: Refuse;
}

/** The caller of an operation. */
export interface Caller {
  /** The unparsed `Authorization` header. */
  readonly authorization: string | undefined;
  /** Headers that may be passed on. */
  readonly headers: RequestHeaders;
  /** The key that it counts as in limits; see `keyOf`. */
  readonly key: number;
  /** Aborted when the caller disconnects or its deadline passes. */
  readonly signal: AbortSignal;
  /** Whether mutations are refused, as they are for GET: a link must not change data. */
  readonly isReadOnly: boolean;
  /** Whether the result lists the REST calls, if that is on. */
  readonly explain: boolean;
  readonly record: RequestRecord;
  /** Disposed when the result is complete: by its body, if that is in parts. */
  readonly scope: DisposableStack;
  /** Returns how deferred fragments are delivered; undefined if the result must be whole. */
  readonly delivery: () => Delivery | undefined;
}

/** The text of a document, the name of the operation to execute, and its variables. */
export interface OperationRequest extends Pick<GraphqlParams, 'operationName' | 'variables'> {
  readonly text: string;
}

/** Executes GraphQL operations for HTTP requests and for callers in this process. */
export interface GraphqlHandler {
  /**
   * Responds to an HTTP request. A body in parts disposes `scope` at its end. @throws HttpError if
   * the request is refused before execution.
   */
  respond(
    request: HttpRequest,
    record: RequestRecord,
    scope: DisposableStack,
  ): Promise<HttpResponse>;
  /** Executes an operation. @throws HttpError if its document has no operation of that name. */
  execute(operation: OperationRequest, caller: Caller): Promise<EncodedResult>;
}

/** Creates the handler. */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { petStore, graphiql, refuse } = options;
  const findDocument = createFindDocument(options.persistedDocuments);
  const findOperation = createFindOperation(options.prepare);

  async function execute(request: OperationRequest, caller: Caller): Promise<EncodedResult> {
    const { authorization, key, record, scope } = caller;
    const encoding = { record, key, refuse };
    const { forwardHeaders } = options;
    const forwarded = forwardHeaders && pickHeaders(forwardHeaders, caller.headers);
    const operation = await findOperation(request, caller);
    if (!(operation instanceof PreparedOperation)) {
      return encodeResult({ errors: operation }, encoding);
    }
    const { variables = {} } = request;
    const { requestId } = record;
    const delivery = operation.isDeferred ? caller.delivery() : undefined;
    const calls = delivery && new AbortController();
    const signal = calls ? AbortSignal.any([caller.signal, calls.signal]) : caller.signal;
    const call = { authorization, key, requestId, signal, scope, forwarded };
    const contextOptions = { petStore, ...call, listener: record, observer: record };
    const isExplained = caller.explain && options.explain;
    const explained = isExplained ? createExplainedContext(contextOptions, record) : undefined;
    const context = explained?.context ?? createContext(contextOptions);
    const result = await operation.execute(variables, context, delivery?.format);
    const { deprecations } = operation;
    const extended = { ...encoding, deprecations, explainedCalls: explained?.calls };
    if (!delivery || !calls || !('initialResult' in result)) {
      return encodeResult(result as EngineResult, extended);
    }
    const body = encodeParts(result, { ...extended, delivery, scope, calls });
    return { body, contentType: delivery.contentType, isExecuted: true };
  }

  return {
    execute,
    async respond(request, record, scope) {
      const page = graphiql?.(request);
      if (page !== undefined) return page;
      const { headers, key, method, mayStream, signal } = request;
      const params = readParams(request);
      const library = params.extensions?.['clientLibrary'];
      if (library !== undefined) record.setClientLibrary(library);
      const { accept, authorization } = headers;
      const delivery = () => (mayStream ? readDelivery(accept) : undefined);
      const isReadOnly = method === 'GET';
      const explain = headers['x-petstore-explain'] === '1';
      const rest = { isReadOnly, explain, record, scope, delivery };
      const caller = { authorization, headers, key, signal, ...rest };
      const text = findDocument(params, caller);
      const result =
        typeof text === 'string'
          ? await execute({ ...params, text }, caller)
          : await encodeResult({ errors: [text] }, { record, key, refuse });
      return toResponse(result, request);
    },
  };
}

/**
 * Creates a function that returns the operation, or the errors of its document. It caches prepared
 * documents.
 */
function createFindOperation(prepare: PrepareDocument) {
  const openCache = (maxSize: number) =>
    new LRUCache<string, PreparedDocument>({ maxSize, maxEntrySize: maxSize / 4 });
  const documents = openCache(maxCacheBytes.accepted);
  const documentsOfOthers = openCache(maxCacheBytes.others);

  return async function findOperation(
    { text, operationName }: OperationRequest,
    { key, isReadOnly, record, scope }: Caller,
  ): Promise<PreparedOperation | readonly GraphQLError[]> {
    const cached = documents.get(text) ?? documentsOfOthers.get(text);
    if (cached === undefined && text.length > longDocument) await nextSlice(key);
    const document = cached ?? prepare(text);
    if (!(document instanceof PreparedDocument)) return document;
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation(document.operationNames, operationName);
    const { definition, deprecations } = operation;
    if (operation.isIntrospection) await nextSlice(key);
    record.setOperation(definition.operation, definition.name?.value);
    if (isReadOnly && definition.operation !== OperationTypeNode.QUERY) throw expectedPost();
    if (deprecations.length > 0) record.deprecatedFields = deprecations.map(({ field }) => field);
    if (cached === undefined) {
      scope.defer(() => {
        const cache = record.keyAccepted ? documents : documentsOfOthers;
        cache.set(text, document, { size: document.estimateBytes(text) });
      });
    }
    return operation;
  };
}

function unknownOperation(names: readonly string[], received: string | undefined): HttpError {
  const quote = (name = '') => (name === '' ? 'none' : JSON.stringify(name.slice(0, 64)));
  const message = `operationName: expected ${names.slice(0, 10).map(quote).join(' or ')}, received ${quote(received)}. Upper and lower case differ.`;
  return new HttpError(400, 'OPERATION_RESOLUTION_FAILURE', message);
}

function expectedPost(): HttpError {
  const message = 'Expected POST for a mutation, received GET. Send it as the JSON body of a POST.';
  return new HttpError(405, 'BAD_REQUEST', message, { allow: 'POST' });
}
