import { type GraphQLError, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { HttpError } from '../../http/error.ts';
import { nextSlice } from '../../limits/slices.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { PrepareDocument } from './engine.ts';
import type { GraphqlParams } from './params.ts';
import { PreparedDocument, type PreparedOperation } from './prepared-document.ts';

/**
 * The memory limits of cached documents, including their compiled code, in bytes; one document may
 * take a quarter. Those of callers whose key the backend has not accepted have their own, so that
 * they cannot evict others.
 */
const maxCacheBytes = { accepted: 32 * 1024 * 1024, others: 512 * 1024 };

/**
 * A document of more characters that is not cached waits for a slice: validating 2,000 may take
 * nine milliseconds, because that time is quadratic in the number of equal fields.
 */
const longDocument = 250;

/** The operation to execute: its document, or the error for the one that was requested. */
export interface OperationRequest extends Pick<GraphqlParams, 'operationName' | 'variables'> {
  readonly text: string | GraphQLError;
}

/** The part of a caller that decides which operation it may execute. */
export interface OperationCaller {
  /** The key that it counts as in limits; see `keyOf`. */
  readonly key: number;
  /** Whether mutations are refused, as they are for GET: a link must not change data. */
  readonly isReadOnly: boolean;
  readonly record: RequestRecord;
  /** Disposed when the result is complete: by its body, if that is in parts. */
  readonly scope: DisposableStack;
}

/**
 * Creates a function that returns the operation of a request, or the errors of its document. It
 * caches prepared documents. The function rejects with an HttpError if the document has no operation
 * of that name, or if it is a mutation and the caller is read-only.
 */
export function createFindOperation(prepare: PrepareDocument) {
  const openCache = (maxSize: number) =>
    new LRUCache<string, PreparedDocument>({ maxSize, maxEntrySize: maxSize / 4 });
  const documents = openCache(maxCacheBytes.accepted);
  const documentsOfOthers = openCache(maxCacheBytes.others);

  return async function findOperation(
    { text, operationName }: OperationRequest,
    { key, isReadOnly, record, scope }: OperationCaller,
  ): Promise<PreparedOperation | readonly GraphQLError[]> {
    if (typeof text !== 'string') return [text];
    const cached = documents.get(text) ?? documentsOfOthers.get(text);
    if (cached === undefined && text.length > longDocument) await nextSlice(key);
    const document = cached ?? prepare(text);
    if (!(document instanceof PreparedDocument)) return document;
    const operation = document.find(operationName);
    if (operation === undefined) throw unknownOperation(document.operationNames, operationName);
    const { definition, deprecations } = operation;
    if (operation.isIntrospection || operation.isDeferred) await nextSlice(key);
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
