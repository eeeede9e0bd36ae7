import { hash as digest } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { HttpError } from '../../http/error.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { GraphqlParams } from './params.ts';
import { type PersistedDocuments, withoutPrefix } from './persisted-documents.ts';

/** The memory limit of registered documents, in bytes. */
const maxRegisteredBytes = 4 * 1024 * 1024;

/** The caller that requests a document. */
interface DocumentCaller {
  readonly authorization: string | undefined;
  readonly record: { readonly keyAccepted: boolean };
  readonly scope: DisposableStack;
}

/**
 * Finds documents by text or hash (GraphQL over HTTP, appendix "Persisted Documents"). In the mode
 * `allow`, a request with text and hash registers the document for the caller's key, if the backend
 * accepts that key (Apollo's automatic persisted queries).
 */
export class RequestedDocuments {
  readonly #persisted: PersistedDocuments;
  readonly #registered = new BoundedCache<string>(maxRegisteredBytes);

  constructor(persisted: PersistedDocuments) {
    this.#persisted = persisted;
  }

  /**
   * Returns the text of the document, or the GraphQL error to respond with.
   * @throws HttpError if the request has neither text nor hash, except in the mode `only`.
   */
  find(
    params: GraphqlParams,
    { authorization, record, scope }: DocumentCaller,
  ): string | GraphQLError {
    const { query } = params;
    const { mode, manifest } = this.#persisted;
    const hash = hashOf(params);
    if (mode === 'only') {
      if (query !== undefined) return documentRequired('the text of a document');
      if (hash === undefined) return documentRequired('no hash');
      return manifest.get(hash) ?? documentRequired('an unknown hash');
    }
    if (query === undefined) {
      if (hash === undefined) throw queryRequired();
      return this.#findByHash(hash, authorization);
    }
    if (hash === undefined || mode === 'off') return query;
    const actual = digest('sha256', query);
    if (actual !== hash) return mismatch(actual, hash);
    scope.defer(() => {
      if (!record.keyAccepted || authorization === undefined) return;
      // Two bytes per character, plus the cache key and the cache's overhead.
      this.#registered.add(cacheKey(authorization, hash), query, query.length * 2 + 256);
    });
    return query;
  }

  #findByHash(hash: string, authorization: string | undefined): string | GraphQLError {
    if (this.#persisted.mode === 'off') {
      return refusal('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
    }
    const text =
      this.#persisted.manifest.get(hash) ??
      (authorization && this.#registered.get(cacheKey(authorization, hash)));
    // Clients recognize this message and send the text next, so it must stay as it is.
    return text || refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
  }
}

/** Returns the hash from `documentId` (GraphQL over HTTP) or `extensions` (Apollo's clients). */
function hashOf({ documentId, extensions }: GraphqlParams): string | undefined {
  if (documentId !== undefined) return withoutPrefix(documentId);
  const persistedQuery = extensions?.['persistedQuery'];
  if (typeof persistedQuery !== 'object' || persistedQuery === null) return undefined;
  const { sha256Hash } = persistedQuery as { readonly sha256Hash?: unknown };
  return typeof sha256Hash === 'string' ? withoutPrefix(sha256Hash) : undefined;
}

function queryRequired(): HttpError {
  const message = 'query: expected the text of a document, received none.';
  return new HttpError(400, 'BAD_REQUEST', message);
}

function mismatch(actual: string, hash: string): GraphQLError {
  return refusal(
    'PERSISTED_QUERY_MISMATCH',
    `Hash of the document: expected its SHA-256, ${actual}, received ${hash.slice(0, 64)}. Hash the text exactly as you send it.`,
  );
}

/** Each API key has its own documents. The digest keeps the API key itself out of the cache. */
function cacheKey(authorization: string, hash: string): string {
  return digest('sha256', `${authorization}\n${hash}`);
}

function documentRequired(received: string): GraphQLError {
  return refusal(
    'PERSISTED_DOCUMENT_REQUIRED',
    `This gateway executes only the documents in its manifest: expected the hash of one, received ${received}. Ask its operator to add your document.`,
  );
}

function refusal(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
