import { GraphQLError, OperationTypeNode } from 'graphql';
import type { PetStore } from '../../contract/pet-store.ts';
import { createContext } from '../../graphql/context.ts';
import { HttpError } from '../../http/error.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import { takeTurn } from '../../turns.ts';
import type { GraphiqlPage } from '../graphiql.ts';
import { BoundedCache } from './bounded-cache.ts';
import { type DeliveryFormat, readDelivery } from './delivery.ts';
import { estimateDocumentSize } from './document-size.ts';
import type { PrepareDocument } from './engine.ts';
import { type GraphqlParams, readParams } from './params.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocument, type PreparedOperation } from './prepared-document.ts';
import { ReleaseCallbacks } from './release-callbacks.ts';
import { RequestedDocuments } from './requested-document.ts';
import { writeParts, writeResult } from './response.ts';
import { isLarge } from './response-size.ts';
import { TypedParts } from './typed-parts.ts';
import { type TypedResult, typeResult } from './typed-result.ts';

/** The memory limit of cached documents, including their compiled code, in bytes. */
const maxCacheBytes = 32 * 1024 * 1024;

/**
 * A document of more characters that is not cached waits for its turn, because validating it may
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
  /** Aborted when the caller disconnects or its deadline passes. */
  readonly signal: AbortSignal;
  /** Whether mutations are refused, as they are for GET: a link must not change data. */
  readonly isReadOnly: boolean;
}

/** The text of a document, the name of the operation to execute, and its variables. */
export interface OperationRequest extends Pick<GraphqlParams, 'operationName' | 'variables'> {
  readonly text: string;
}

/** Executes GraphQL operations for HTTP requests and for callers in this process. */
export interface GraphqlHandler {
  /** Responds to an HTTP request. @throws HttpError if it is refused before execution. */
  respond(request: HttpRequest, record: RequestRecord): Promise<HttpResponse>;
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

/** The prepared operation of a request. */
interface ResolvedOperation {
  readonly operation: PreparedOperation;
  /** Called after execution. Caches the document if the backend accepted the caller's key. */
  cache(): void;
}

/**
 * Creates the handler. It caches prepared documents of callers whose key the backend has accepted.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { prepare, petStore, graphiql, reportError } = options;
  const requested = new RequestedDocuments(options.persistedDocuments);
  const documents = new BoundedCache<PreparedDocument>(maxCacheBytes);

  /**
   * Returns the operation, or a result with the errors of its document. `register` is called by
   * `cache` if the backend accepted the caller's key.
   */
  async function resolve(
    { text, operationName }: OperationRequest,
    { authorization, isReadOnly }: Caller,
    record: RequestRecord,
    register?: () => void,
  ): Promise<ResolvedOperation | TypedResult> {
    const cached = documents.get(text);
    if (cached === undefined && text.length > longDocument) await takeTurn(authorization);
    const document = cached ?? prepare(text);
    if (!(document instanceof PreparedDocument)) {
      return typeResult({ errors: document }, { record, reportError });
    }
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation();
    const { definition, deprecations } = operation;
    if (operation.isIntrospection) await takeTurn(authorization);
    record.setOperation(definition.operation, definition.name?.value);
    if (isReadOnly && definition.operation !== OperationTypeNode.QUERY) throw expectedPost();
    if (deprecations.length > 0) record.deprecatedFields = deprecations.map(({ field }) => field);
    const cache = () => {
      if (!record.keyAccepted) return;
      if (cached === undefined) {
        documents.add(text, document, estimateDocumentSize(text, document.document));
      }
      register?.();
    };
    return { operation, cache };
  }

  /** Creates the context of an execution; its release callbacks are called before the writing. */
  function open({ authorization, signal }: Caller, record: RequestRecord) {
    const { requestId } = record;
    const release = new ReleaseCallbacks();
    const common = { petStore, authorization, requestId, signal, listener: record };
    const context = createContext({ ...common, onResponseComplete: release.add });
    return { context, release, typing: { record, reportError, authorization } };
  }

  async function run(
    { operation, cache }: ResolvedOperation,
    { variables = {} }: Pick<OperationRequest, 'variables'>,
    caller: Caller,
    record: RequestRecord,
  ): Promise<TypedResult> {
    const { context, release, typing } = open(caller, record);
    try {
      const result = await operation.execute(variables, context);
      cache();
      return await complete(typeResult(result, typing), operation, caller);
    } finally {
      release.complete();
    }
  }

  async function runIncrementally(
    { operation, cache }: ResolvedOperation,
    { variables = {} }: Pick<OperationRequest, 'variables'>,
    caller: Caller,
    record: RequestRecord,
    format: DeliveryFormat,
  ): Promise<TypedResult | TypedParts> {
    const calls = new AbortController();
    const signal = AbortSignal.any([caller.signal, calls.signal]);
    const { context, release, typing } = open({ ...caller, signal }, record);
    let parts: TypedParts | undefined;
    try {
      const result = await operation.executeIncrementally(variables, context, format);
      if (!('initialResult' in result)) {
        cache();
        return await complete(typeResult(result, typing), operation, caller);
      }
      const { deprecations } = operation;
      parts = new TypedParts(result, { ...typing, deprecations, format, calls });
      return parts;
    } finally {
      if (parts === undefined) release.complete();
      else {
        parts.finished.then(() => {
          cache();
          release.complete();
        });
      }
    }
  }

  async function respond(request: HttpRequest, record: RequestRecord): Promise<HttpResponse> {
    const page = graphiql?.respond(request);
    if (page !== undefined) return page;
    const { headers, method, signal } = request;
    const { authorization } = headers;
    const params = readParams(request);
    record.setClientLibrary(params.extensions?.['clientLibrary']);
    const caller = { authorization, signal, isReadOnly: method === 'GET' };
    const document = requested.find(params, authorization);
    if (document instanceof GraphQLError) {
      const refused = typeResult({ errors: [document] }, { record, reportError });
      return writeResult(refused, request, record);
    }
    const { operationName } = params;
    const register = () => requested.register(document, authorization);
    const resolved = await resolve(
      { text: document.text, operationName },
      caller,
      record,
      register,
    );
    if (!('operation' in resolved)) return writeResult(resolved, request, record);
    const mayDefer = resolved.operation.isDeferred && request.mayStream;
    const delivery = mayDefer ? readDelivery(headers['accept']) : undefined;
    if (delivery === undefined) {
      return writeResult(await run(resolved, params, caller, record), request, record);
    }
    const result = await runIncrementally(resolved, params, caller, record, delivery.format);
    return result instanceof TypedParts
      ? writeParts(result, delivery, request, record)
      : writeResult(result, request, record);
  }

  return {
    respond,
    async execute(request, caller, record) {
      const resolved = await resolve(request, caller, record);
      return 'operation' in resolved ? run(resolved, request, caller, record) : resolved;
    },
    async executeIncrementally(request, caller, record) {
      const resolved = await resolve(request, caller, record);
      if (!('operation' in resolved)) return resolved;
      return resolved.operation.isDeferred
        ? runIncrementally(resolved, request, caller, record, 'incrementalSpec=v0.2')
        : run(resolved, request, caller, record);
    },
  };
}

/** Adds deprecations. A large result waits for its turn, while the memory of bodies is reserved. */
async function complete(
  result: TypedResult,
  { deprecations }: PreparedOperation,
  { authorization }: Caller,
): Promise<TypedResult> {
  if (isLarge(result)) await takeTurn(authorization);
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
