import type { PetStore } from '../../contract/pet-store.ts';
import { createContext } from '../../graphql/context.ts';
import { createExplainedContext } from '../../graphql/explained-context.ts';
import type { HttpRequest, HttpResponse, RequestHeaders } from '../../http/message.ts';
import type { Refuse } from '../../http/refuse.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { GraphiqlPage } from '../graphiql.ts';
import { type Delivery, encodeParts } from './encoded-parts.ts';
import { type EncodedResult, type EngineResult, encodeResult } from './encoded-result.ts';
import type { PrepareDocument } from './engine.ts';
import {
  createFindOperation,
  type OperationCaller,
  type OperationRequest,
} from './find-operation.ts';
import { pickHeaders } from './forwarded-headers.ts';
import { readParams } from './params.ts';
import { createFindDocument, type PersistedDocuments } from './persisted-documents.ts';
import { PreparedOperation } from './prepared-document.ts';
import { readDelivery, toResponse } from './response.ts';

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
export interface Caller extends OperationCaller {
  /** The unparsed `Authorization` header. */
  readonly authorization: string | undefined;
  /** Headers that may be passed on. */
  readonly headers: RequestHeaders;
  /** Aborted when the caller disconnects or its deadline passes. */
  readonly signal: AbortSignal;
  /** Whether the result lists the REST calls, if that is on. */
  readonly explain: boolean;
  /** Returns how deferred fragments are delivered; undefined if the result must be whole. */
  readonly delivery: () => Delivery | undefined;
}

/** Executes GraphQL operations for HTTP requests and for callers in this process. */
export type GraphqlHandler = ReturnType<typeof createGraphqlHandler>;

/** Creates the handler. */
export function createGraphqlHandler(options: GraphqlHandlerOptions) {
  const { petStore, graphiql, refuse } = options;
  const findDocument = createFindDocument(options.persistedDocuments);
  const findOperation = createFindOperation(options.prepare);

  /** Executes an operation. @throws HttpError if its document has no operation of that name. */
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
    /**
     * Responds to an HTTP request. A body in parts disposes `scope` at its end. @throws HttpError if
     * the request is refused before execution.
     */
    async respond(
      request: HttpRequest,
      record: RequestRecord,
      scope: DisposableStack,
    ): Promise<HttpResponse> {
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
      return toResponse(await execute({ ...params, text }, caller), request);
    },
  };
}
