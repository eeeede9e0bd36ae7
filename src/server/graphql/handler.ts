import { GraphQLError, OperationTypeNode } from 'graphql';
import type { PetStore } from '../../contract/pet-store.ts';
import { createContext } from '../../graphql/context.ts';
import { HttpError } from '../../http/error.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import { nextSlice } from '../../limits/slices.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { GraphiqlPage } from '../graphiql.ts';
import { BoundedCache } from './bounded-cache.ts';
import { type DeliveryFormat, readDelivery } from './delivery.ts';
import { estimateDocumentSize } from './document-size.ts';
import type { PrepareDocument } from './engine.ts';
import { type GraphqlParams, readParams } from './params.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocument, PreparedOperation } from './prepared-document.ts';
import { RequestedDocuments } from './requested-document.ts';
import { writeParts, writeResult } from './response.ts';
import { isLarge } from './response-size.ts';
import { TypedParts } from './typed-parts.ts';
import { type TypedResult, typeResult } from './typed-result.ts';

/** The memory limit of cached documents, including their compiled code, in bytes. */
const maxCacheBytes = 32 * 1024 * 1024;

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
  /** The page for browsers; undefined if it is turned off. */
  readonly graphiql: GraphiqlPage | undefined;
  /** Called with every unexpected error and the id of its request. */
  readonly reportError: (error: unknown, requestId: string) => void;
}

/** The caller of an operation. */
export interface Caller {
  /** The unparsed `Authorization` header. */
  readonly authorization: string | undefined;
  /** The key that it counts as in limits; see `keyOf`. */
  readonly key: number;
  /** Aborted when the caller disconnects or its deadline passes. */
  readonly signal: AbortSignal;
  /** Whether mutations are refused, as they are for GET: a link must not change data. */
  readonly isReadOnly: boolean;
  /** Disposed when the response is complete: by its body, if that is in parts. */
  readonly scope: DisposableStack;
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
  execute(operation: OperationRequest, caller: Caller, record: RequestRecord): Promise<TypedResult>;
  /**
   * Executes an operation. Returns its parts in the format of graphql-js 17, or a single result if
   * nothing is deferred.
   */
  executeIncrementally(
    operation: OperationRequest,
    caller: Caller,
    record: RequestRecord,
  ): Promise<TypedResult | TypedParts>;
}

/**
 * Creates the handler. It caches prepared documents of callers whose key the backend has accepted.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { prepare, petStore, graphiql, reportError } = options;
  const requested = new RequestedDocuments(options.persistedDocuments);
  const documents = new BoundedCache<PreparedDocument>(maxCacheBytes);

  /** Returns the operation, or a result with the errors of its document. */
  async function resolve(
    { text, operationName }: OperationRequest,
    { key, isReadOnly, scope }: Caller,
    record: RequestRecord,
  ): Promise<PreparedOperation | TypedResult> {
    const cached = documents.get(text);
    if (cached === undefined && text.length > longDocument) await nextSlice(key);
    const document = cached ?? prepare(text);
    if (!(document instanceof PreparedDocument)) {
      return typeResult({ errors: document }, { record, reportError });
    }
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation();
    const { definition, deprecations } = operation;
    if (operation.isIntrospection) await nextSlice(key);
    record.setOperation(definition.operation, definition.name?.value);
    if (isReadOnly && definition.operation !== OperationTypeNode.QUERY) throw expectedPost();
    if (deprecations.length > 0) record.deprecatedFields = deprecations.map(({ field }) => field);
    if (cached === undefined) {
      scope.defer(() => {
        if (!record.keyAccepted) return;
        documents.add(text, document, estimateDocumentSize(text, document.document));
      });
    }
    return operation;
  }

  function contextOf({ authorization, key, signal, scope }: Caller, record: RequestRecord) {
    const { requestId } = record;
    const call = { authorization, key, requestId, signal, scope };
    return createContext({ petStore, ...call, listener: record });
  }

  async function run(
    operation: PreparedOperation,
    { variables = {} }: Pick<OperationRequest, 'variables'>,
    caller: Caller,
    record: RequestRecord,
  ): Promise<TypedResult> {
    const result = await operation.execute(variables, contextOf(caller, record));
    return complete(typeResult(result, { record, reportError }), operation, caller);
  }

  async function runIncrementally(
    operation: PreparedOperation,
    { variables = {} }: Pick<OperationRequest, 'variables'>,
    caller: Caller,
    record: RequestRecord,
    format: DeliveryFormat,
  ): Promise<TypedResult | TypedParts> {
    const calls = new AbortController();
    const signal = AbortSignal.any([caller.signal, calls.signal]);
    const context = contextOf({ ...caller, signal }, record);
    const result = await operation.executeIncrementally(variables, context, format);
    const typing = { record, reportError };
    if (!('initialResult' in result)) {
      return complete(typeResult(result, typing), operation, caller);
    }
    const { key, scope } = caller;
    const { deprecations } = operation;
    const rest = { format, deprecations, key, calls, scope };
    return new TypedParts(result, { ...typing, ...rest });
  }

  async function respond(
    request: HttpRequest,
    record: RequestRecord,
    scope: DisposableStack,
  ): Promise<HttpResponse> {
    const page = graphiql?.respond(request);
    if (page !== undefined) return page;
    const { headers, key, method, signal } = request;
    const { authorization } = headers;
    const params = readParams(request);
    const library = params.extensions?.['clientLibrary'];
    if (library !== undefined) record.setClientLibrary(library);
    const caller = { authorization, key, signal, isReadOnly: method === 'GET', scope };
    const document = requested.find(params, authorization);
    if (document instanceof GraphQLError) {
      const refused = typeResult({ errors: [document] }, { record, reportError });
      return writeResult(refused, request, record);
    }
    if (document.registersAs !== undefined) {
      scope.defer(() => {
        if (record.keyAccepted) requested.register(document, authorization);
      });
    }
    const { operationName } = params;
    const operation = await resolve({ text: document.text, operationName }, caller, record);
    if (!(operation instanceof PreparedOperation)) return writeResult(operation, request, record);
    const mayDefer = operation.isDeferred && request.mayStream;
    const delivery = mayDefer ? readDelivery(headers['accept']) : undefined;
    if (delivery === undefined) {
      return writeResult(await run(operation, params, caller, record), request, record);
    }
    const result = await runIncrementally(operation, params, caller, record, delivery.format);
    return result instanceof TypedParts
      ? writeParts(result, delivery, request, record)
      : writeResult(result, request, record);
  }

  return {
    respond,
    async execute(request, caller, record) {
      const operation = await resolve(request, caller, record);
      if (!(operation instanceof PreparedOperation)) return operation;
      return run(operation, request, caller, record);
    },
    async executeIncrementally(request, caller, record) {
      const operation = await resolve(request, caller, record);
      if (!(operation instanceof PreparedOperation)) return operation;
      return operation.isDeferred
        ? runIncrementally(operation, request, caller, record, 'incrementalSpec=v0.2')
        : run(operation, request, caller, record);
    },
  };
}

/** Adds deprecations. A large result waits for a slice, while the bytes of bodies are counted. */
async function complete(
  result: TypedResult,
  { deprecations }: PreparedOperation,
  { key }: Caller,
): Promise<TypedResult> {
  if (isLarge(result)) await nextSlice(key);
  if (!('data' in result) || deprecations.length === 0) return result;
  return { ...result, extensions: { deprecations } };
}

function unknownOperation(): HttpError {
  return new HttpError(
    400,
    'OPERATION_RESOLUTION_FAILURE',
    'operationName: expected the name of an operation in the document. It is required if the document has several.',
  );
}

function expectedPost(): HttpError {
  const message = 'Expected POST for a mutation, received GET.';
  return new HttpError(405, 'BAD_REQUEST', message, { allow: 'POST' });
}
