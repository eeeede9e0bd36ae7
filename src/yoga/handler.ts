import { type GraphQLError, OperationTypeNode } from 'graphql';
import type { PetStore } from '../contract/pet-store.ts';
import { createContext } from '../graphql/context.ts';
import { HttpError } from '../http/error.ts';
import type { GraphiqlPage } from '../http/graphiql.ts';
import { readAccept } from '../http/media-type.ts';
import type { HttpResponse } from '../http/message.ts';
import type { Refuse } from '../http/refuse.ts';
import { nextSlice, sliceBytes } from '../limits/slices.ts';
import type { Admission } from '../request/admission.ts';
import { readClientLibrary } from '../request/client-name.ts';
import { setDeadline, timeoutHeader } from '../request/deadline.ts';
import { pickHeaders } from '../request/forwarded-headers.ts';
import type { RequestRecord } from '../request/request-record.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import { checkKey } from './check-key.ts';
import { createDocumentReport } from './document-report.ts';
import { createDocumentCache } from './documents.ts';
import type { PrepareDocument } from './engine.ts';
import { type GraphqlParams, readParams } from './params.ts';
import { type Delivery, encodeParts, readDelivery } from './parts.ts';
import { DocumentFinder, type PersistedDocuments } from './persisted-documents.ts';
import { PreparedDocument } from './prepared-document.ts';
import {
  type EncodedResult,
  type EncodingContext,
  type EngineResult,
  encodeResult,
} from './result.ts';

/** Options of `createGraphqlHandler`. */
export interface GraphqlHandlerOptions {
  readonly prepare: PrepareDocument;
  readonly petStore: PetStore;
  readonly admission: Admission;
  readonly persistedDocuments: PersistedDocuments;
  readonly telemetry: Reporting;
  /** Whether callers may ask for their REST calls. */
  readonly explain: boolean;
  /** The names of the headers that are passed on to the REST service, in lower case. */
  readonly forwardHeaders: readonly string[] | undefined;
  /** The longest time that a caller may ask for, in milliseconds. */
  readonly maxTimeoutMs: number;
  /** The page for browsers; undefined if it is turned off. */
  readonly graphiql: GraphiqlPage | undefined;
  /** Logs unexpected errors. */
  readonly refuse: Refuse;
}

/** Executes GraphQL operations for HTTP requests and for callers in this process. */
export type GraphqlHandler = ReturnType<typeof createGraphqlHandler>;

/** Creates the handler. */
export function createGraphqlHandler(options: GraphqlHandlerOptions) {
  const { petStore, admission, forwardHeaders, graphiql, refuse } = options;
  const finder = new DocumentFinder(options.persistedDocuments);
  const findDocument = createDocumentCache(options.prepare);
  const reportDocument = createDocumentReport(options.persistedDocuments, options.telemetry);

  /**
   * Executes the operation of a request. A body in parts ends the record.
   * @param getDelivery returns how deferred fragments are delivered; undefined for a whole result
   * @throws HttpError if the document has no operation of the name, or the request may not execute it
   */
  async function execute(
    record: RequestRecord,
    params: GraphqlParams,
    isExplained: boolean,
    getDelivery?: (record: RequestRecord) => Delivery | undefined,
  ): Promise<HttpResponse> {
    const { query, documentId, extensions, operationName, variables = {} } = params;
    const hasHash = documentId !== undefined || extensions?.['persistedQuery'] !== undefined;
    const isText = !hasHash && options.persistedDocuments.mode !== 'only';
    const text = (isText ? query : undefined) ?? finder.find(params, record.key);
    if (typeof text !== 'string') return respondWith([text], { record, refuse });
    const found = findDocument(text, record);
    const document = found instanceof Promise ? await found : found;
    if (!(document instanceof PreparedDocument)) return respondWith(document, { record, refuse });
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation(document.operationNames, operationName);
    const { definition, deprecations, isDeferred, rootFields, needsKey, takesText } = operation;
    record.operation = operation.label;
    // A link must not change data.
    const isReadOnly = record.method === 'GET';
    if (isReadOnly && definition.operation !== OperationTypeNode.QUERY) throw expectedPost();
    if (deprecations.length > 0) record.deprecatedFields = deprecations.map(({ field }) => field);
    const taken = admission.takeCalls(record, rootFields.count + Number(needsKey));
    if (taken !== undefined) await taken;
    if (isDeferred || operation.isIntrospection) await nextSlice(record);
    const delivery = isDeferred ? getDelivery?.(record) : undefined;
    const context = createContext(record, petStore, {
      hasEqualReads: rootFields.mayBeEqual,
      isExplained: isExplained && options.explain,
    });
    const refused = needsKey ? await checkKey(context.petStore) : undefined;
    if (refused !== undefined) return respondWith([refused], { record, refuse });
    const result = await operation.execute(variables, context, delivery?.format);
    if (hasHash) finder.register(params, record.key);
    reportDocument?.(record, finder.sourceOf(params));
    const encoding = { record, refuse, deprecations, context };
    if (delivery && 'initialResult' in result) {
      return toHttpResponse(record, encodeParts(result, { ...encoding, delivery }));
    }
    return toHttpResponse(record, await encodeResult(result as EngineResult, encoding), takesText);
  }

  return {
    execute,
    /**
     * Responds to an HTTP request; a large body waits for a slice.
     * @throws HttpError if it is refused before execution.
     */
    async respond(record: RequestRecord): Promise<HttpResponse> {
      const page = graphiql?.(record);
      if (page !== undefined) return page;
      const { headers } = record;
      const timeout = headers[timeoutHeader];
      if (timeout !== undefined) setDeadline(record, timeoutHeader, timeout, options.maxTimeoutMs);
      if (record.size > sliceBytes) await nextSlice(record);
      const params = readParams(record);
      const library = params.extensions?.['clientLibrary'];
      if (library !== undefined) record.clientLibrary = readClientLibrary(library);
      if (forwardHeaders) record.forwarded = pickHeaders(forwardHeaders, record);
      return execute(record, params, headers['x-petstore-explain'] === '1', deliveryOf);
    },
  };
}

/**
 * Returns the response for a result (GraphQL over HTTP, section 6.4). A result without `data` has
 * the status 400, or 200 for `application/json`, whose clients may predate that specification.
 * Cancelling the request ends a body in parts even if none has been read, because clients may
 * disconnect before the first one is written.
 */
function toHttpResponse(
  record: RequestRecord,
  result: EncodedResult,
  takesText = true,
): HttpResponse {
  if ('contentType' in result) {
    const { body, contentType } = result;
    // The body has reported its own failure.
    const cancel = () => void body.return().catch(() => {});
    if (record.hasLeft) cancel();
    else record.onLeave = cancel;
    const headers = { 'content-type': contentType, 'cache-control': 'no-store' };
    return { status: 200, headers, body: '', parts: body };
  }
  const { body, isExecuted } = result;
  const { jsonType: type } = readAccept(record.headers.accept);
  const headers: Record<string, string> = { 'content-type': `${type}; charset=utf-8` };
  if (record.method === 'GET') {
    // A browser may store the response; a shared cache may not.
    headers['cache-control'] = 'private';
    headers['vary'] = 'Authorization, Accept, X-Petstore-Explain';
  }
  const isExplained = Boolean(record.headers['x-petstore-explain']);
  if (isExplained) headers['cache-control'] = 'no-store';
  const status = isExecuted || type === 'application/json' ? 200 : 400;
  // Errors and explained calls quote the request.
  const isCompressible = !takesText && !isExplained && record.codes.length === 0;
  return { status, headers, body, isCompressible };
}

/** Responds with errors instead of a result. */
async function respondWith(errors: readonly GraphQLError[], encoding: EncodingContext) {
  return toHttpResponse(encoding.record, await encodeResult({ errors }, encoding));
}

const deliveryOf = ({ mayStream, headers }: RequestRecord) =>
  mayStream ? readDelivery(headers.accept) : undefined;

function unknownOperation(names: readonly string[], received: string | undefined): HttpError {
  const quote = (name = '') => (name === '' ? 'none' : JSON.stringify(name.slice(0, 64)));
  const message = `operationName: expected ${names.slice(0, 10).map(quote).join(' or ')}, received ${quote(received)}. Upper and lower case differ.`;
  return new HttpError(400, 'OPERATION_RESOLUTION_FAILURE', message);
}

function expectedPost(): HttpError {
  const message = 'Expected POST for a mutation, received GET. Send it as the JSON body of a POST.';
  return new HttpError(405, 'BAD_REQUEST', message, { allow: 'POST' });
}
