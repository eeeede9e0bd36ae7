import { GraphQLError, OperationTypeNode } from 'graphql';
import type { PetStore } from '../../contract/pet-store.ts';
import { createContext } from '../../graphql/context.ts';
import { HttpError } from '../../http/error.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import { takeTurn } from '../../turns.ts';
import type { GraphiqlPage } from '../graphiql.ts';
import { BoundedCache } from './bounded-cache.ts';
import { limitResult } from './bounded-text.ts';
import { type DeliveryFormat, readDelivery } from './delivery.ts';
import { documentBytes } from './document-bytes.ts';
import type { PrepareDocument } from './engine.ts';
import { type GraphqlParams, readParams } from './params.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocument, type PreparedOperation } from './prepared-document.ts';
import { RequestedDocuments } from './requested-document.ts';
import { writeParts, writeResult } from './response.ts';
import { TypedParts } from './typed-parts.ts';
import { type TypedResult, typeResult } from './typed-result.ts';
import { UntilAnswered } from './until-answered.ts';

/** What kept documents may take, in bytes, the code compiled for them included. */
const maxDocumentBytes = 32 * 1024 * 1024;

/** A document of more characters takes a turn the first time: to check it may take milliseconds. */
const longDocument = 2000;

/** What GraphQL is served with. */
export interface GraphqlHandlerOptions {
  readonly prepare: PrepareDocument;
  readonly petStore: PetStore;
  readonly persistedDocuments: PersistedDocuments;
  /** The page for browsers; undefined where it is turned off. */
  readonly graphiql: GraphiqlPage | undefined;
  /** Called with every error that no code foresaw, and the id of its request. */
  readonly reportError: (error: unknown, requestId: string) => void;
}

/** Who asks for an operation, and how. */
export interface Caller {
  /** The `Authorization` header as it arrived. */
  readonly authorization: string | undefined;
  /** Aborted when the caller has left, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Refuses a mutation: nothing may change by following a link. */
  readonly isReadOnly: boolean;
}

/** The text of a document, which of its operations to execute, and the variables. */
export interface OperationRequest extends Pick<GraphqlParams, 'operationName' | 'variables'> {
  readonly text: string;
}

/** The only way to GraphQL: every shape of request becomes an operation that is executed here. */
export interface GraphqlHandler {
  /** Answers an HTTP request. @throws HttpError for one that carries no operation to execute. */
  answer(request: HttpRequest, record: RequestRecord): Promise<HttpResponse>;
  /** Executes an operation. @throws HttpError when its document has none of that name. */
  execute(operation: OperationRequest, caller: Caller, record: RequestRecord): Promise<TypedResult>;
  /** The same in parts, as graphql-js 17 defines them; whole where there is nothing to defer. */
  executeIncrementally(
    operation: OperationRequest,
    caller: Caller,
    record: RequestRecord,
  ): Promise<TypedResult | TypedParts>;
}

/** An operation that was found for a request. */
interface OpenOperation {
  readonly operation: PreparedOperation;
  /** Called once it is executed: keeps its document if the backend accepted the caller's key. */
  keep(): void;
}

/** Makes the handler. It keeps the prepared documents of callers whose key the backend accepted. */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { prepare, petStore, graphiql, reportError } = options;
  const requested = new RequestedDocuments(options.persistedDocuments);
  const documents = new BoundedCache<PreparedDocument>(maxDocumentBytes);

  /** Finds an operation, or why there is none. `register` is called when its document may be kept. */
  async function open(
    { text, operationName }: OperationRequest,
    { authorization, isReadOnly, signal }: Caller,
    record: RequestRecord,
    register?: () => void,
  ): Promise<OpenOperation | TypedResult> {
    const kept = documents.get(text);
    if (kept === undefined && text.length > longDocument) await takeTurn(authorization);
    const document = kept ?? prepare(text);
    if (!(document instanceof PreparedDocument)) {
      return typeResult({ errors: document }, { record, signal, reportError });
    }
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation();
    const { definition, deprecations } = operation;
    if (operation.isIntrospection) await takeTurn(authorization);
    record.setOperation(definition.operation, definition.name?.value);
    if (isReadOnly && definition.operation !== OperationTypeNode.QUERY) throw expectedPost();
    if (deprecations.length > 0) record.deprecatedFields = deprecations.map(({ field }) => field);
    const keep = () => {
      if (!record.keyAccepted) return;
      if (kept === undefined) documents.add(text, document, documentBytes(text, document.document));
      register?.();
    };
    return { operation, keep };
  }

  async function run(
    { operation, keep }: OpenOperation,
    { variables = {} }: Pick<OperationRequest, 'variables'>,
    { authorization, signal }: Caller,
    record: RequestRecord,
  ): Promise<TypedResult> {
    const { requestId } = record;
    const answered = new UntilAnswered();
    const { add: whenAnswered } = answered;
    const options = { petStore, authorization, requestId, signal, listener: record, whenAnswered };
    try {
      const result = await operation.execute(variables, createContext(options));
      keep();
      const typed = typeResult(result, { record, signal, reportError });
      const limited = operation.hasAliases
        ? await limitResult(typed, requestId, authorization)
        : typed;
      return withDeprecations(limited, operation);
    } finally {
      answered.end();
    }
  }

  async function runIncrementally(
    { operation, keep }: OpenOperation,
    { variables = {} }: Pick<OperationRequest, 'variables'>,
    { authorization, signal }: Caller,
    record: RequestRecord,
    format: DeliveryFormat,
  ): Promise<TypedResult | TypedParts> {
    const { requestId } = record;
    const calls = new AbortController();
    const either = AbortSignal.any([signal, calls.signal]);
    const answered = new UntilAnswered();
    const { add: whenAnswered } = answered;
    const common = { petStore, authorization, requestId, listener: record, whenAnswered };
    const context = createContext({ ...common, signal: either });
    const typing = { record, signal: either, reportError };
    let parts: TypedParts | undefined;
    try {
      const result = await operation.executeIncrementally(variables, context, format);
      if (!('initialResult' in result)) {
        keep();
        return withDeprecations(typeResult(result, typing), operation);
      }
      const { deprecations } = operation;
      parts = new TypedParts(result, { ...typing, deprecations, format, calls });
      return parts;
    } finally {
      if (parts === undefined) answered.end();
      else {
        parts.finished.then(() => {
          keep();
          answered.end();
        });
      }
    }
  }

  async function answer(request: HttpRequest, record: RequestRecord): Promise<HttpResponse> {
    const page = graphiql?.answer(request);
    if (page !== undefined) return page;
    const { headers, method, signal } = request;
    const { authorization } = headers;
    const { requestId } = record;
    const params = readParams(request);
    record.setClientLibrary(params.extensions?.['clientLibrary']);
    const caller = { authorization, signal, isReadOnly: method === 'GET' };
    const document = requested.find(params, authorization);
    if (document instanceof GraphQLError) {
      const refused = typeResult({ errors: [document] }, { record, signal, reportError });
      return writeResult(refused, request, requestId);
    }
    const { operationName } = params;
    const register = () => requested.register(document, authorization);
    const opened = await open({ text: document.text, operationName }, caller, record, register);
    if (!('operation' in opened)) return writeResult(opened, request, requestId);
    const mayDefer = opened.operation.isDeferred && request.mayStream;
    const delivery = mayDefer ? readDelivery(headers['accept']) : undefined;
    if (delivery === undefined) {
      return writeResult(await run(opened, params, caller, record), request, requestId);
    }
    const result = await runIncrementally(opened, params, caller, record, delivery.format);
    return result instanceof TypedParts
      ? writeParts(result, delivery, request, requestId)
      : writeResult(result, request, requestId);
  }

  return {
    answer,
    async execute(request, caller, record) {
      const opened = await open(request, caller, record);
      return 'operation' in opened ? run(opened, request, caller, record) : opened;
    },
    async executeIncrementally(request, caller, record) {
      const opened = await open(request, caller, record);
      if (!('operation' in opened)) return opened;
      return opened.operation.isDeferred
        ? runIncrementally(opened, request, caller, record, 'incrementalSpec=v0.2')
        : run(opened, request, caller, record);
    },
  };
}

function withDeprecations(result: TypedResult, { deprecations }: PreparedOperation): TypedResult {
  return deprecations.length === 0 ? result : { ...result, extensions: { deprecations } };
}

function unknownOperation(): HttpError {
  return new HttpError(
    400,
    'OPERATION_RESOLUTION_FAILURE',
    'operationName: expected the name of an operation of the document, received none that is in it.',
  );
}

function expectedPost(): HttpError {
  const message = 'Expected POST for a mutation, received GET.';
  return new HttpError(405, 'BAD_REQUEST', message, { allow: 'POST' });
}
