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
import { documentBytes } from './document-bytes.ts';
import type { PrepareDocument } from './engine.ts';
import { type GraphqlParams, readParams } from './params.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocument } from './prepared-document.ts';
import { RequestedDocuments } from './requested-document.ts';
import { writeResult } from './response.ts';
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
}

/** Makes the handler. It keeps the prepared documents of callers whose key the backend accepted. */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { prepare, petStore, graphiql, reportError } = options;
  const requested = new RequestedDocuments(options.persistedDocuments);
  const documents = new BoundedCache<PreparedDocument>(maxDocumentBytes);

  const execute: GraphqlHandler['execute'] = async (
    { text, operationName, variables = {} },
    { authorization, signal, isReadOnly },
    record,
  ) => {
    const { requestId } = record;
    const kept = documents.get(text);
    if (kept === undefined && text.length > longDocument) await takeTurn(authorization);
    const document = kept ?? prepare(text);
    if (!(document instanceof PreparedDocument)) {
      return typeResult({ errors: document }, record, signal, reportError);
    }
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation();
    const { definition, deprecations } = operation;
    if (operation.isIntrospection) await takeTurn(authorization);
    record.setOperation(definition.operation, definition.name?.value);
    if (isReadOnly && definition.operation !== OperationTypeNode.QUERY) throw expectedPost();
    const answered = new UntilAnswered();
    const { add: whenAnswered } = answered;
    const options = { petStore, authorization, requestId, signal, listener: record, whenAnswered };
    try {
      const result = await operation.execute(variables, createContext(options));
      if (kept === undefined && record.keyAccepted) {
        documents.add(text, document, documentBytes(text, document.document));
      }
      let typed = typeResult(result, record, signal, reportError);
      if (operation.hasAliases) typed = await limitResult(typed, requestId, authorization);
      if (deprecations.length === 0) return typed;
      record.deprecatedFields = deprecations.map(({ field }) => field);
      return { ...typed, extensions: { deprecations } };
    } finally {
      answered.end();
    }
  };

  async function answer(request: HttpRequest, record: RequestRecord): Promise<HttpResponse> {
    const page = graphiql?.answer(request);
    if (page !== undefined) return page;
    const { headers, method, signal } = request;
    const { authorization } = headers;
    const params = readParams(request);
    record.setClientLibrary(params.extensions?.['clientLibrary']);
    const document = requested.find(params, authorization);
    if (document instanceof GraphQLError) {
      const refused = typeResult({ errors: [document] }, record, signal, reportError);
      return writeResult(refused, request, record.requestId);
    }
    const { operationName, variables } = params;
    const result = await execute(
      { text: document.text, operationName, variables },
      { authorization, signal, isReadOnly: method === 'GET' },
      record,
    );
    if (record.keyAccepted) requested.register(document, authorization);
    return writeResult(result, request, record.requestId);
  }

  return { answer, execute };
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
