import { hash as digest } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { HttpError } from '../../http/error.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { GraphqlParams } from './params.ts';
import { type PersistedDocuments, withoutPrefix } from './persisted-documents.ts';

/** The memory limit of registered documents, in bytes. */
const maxRegisteredBytes = 4 * 1024 * 1024;

/** The document of a request. */
export interface RequestedDocument {
  readonly text: string;
  /** The hash to register the text under, if the client sent both and may register documents. */
  readonly registersAs?: string;
}

/**
 * Finds documents by text or hash (GraphQL over HTTP, appendix "Persisted Documents"). In the mode
 * `allow`, a request with text and hash registers the document for the caller's key (Apollo's
 * automatic persisted queries).
 */
export class RequestedDocuments {
  readonly #persisted: PersistedDocuments;
  readonly #registered = new BoundedCache<string>(maxRegisteredBytes);

  constructor(persisted: PersistedDocuments) {
    this.#persisted = persisted;
  }

  /**
   * Returns the document, or the GraphQL error to respond with.
   * @throws HttpError if the request has neither text nor hash, except in the mode `only`.
   */
  find(params: GraphqlParams, authorization: string | undefined): RequestedDocument | GraphQLError {
    const { query } = params;
    const { mode } = this.#persisted;
    const hash = hashOf(params);
    if (mode === 'only') return this.#findInManifest(query, hash);
    if (query === undefined) {
      if (hash === undefined) {
        throw new HttpError(
          400,
          'BAD_REQUEST',
          'query: expected the text of a document, received none.',
        );
      }
      return this.#findByHash(hash, authorization);
    }
    if (hash === undefined || mode === 'off') return { text: query };
    return checkHash(query, hash) ?? { text: query, registersAs: hash };
  }

  /** Registers a document for this key, which the backend must have accepted. */
  register({ text, registersAs }: RequestedDocument, authorization: string | undefined): void {
    if (registersAs === undefined || authorization === undefined) return;
    // Two bytes per character, plus the cache key and the cache's overhead.
    this.#registered.add(cacheKey(authorization, registersAs), text, text.length * 2 + 256);
  }

  #findInManifest(query: string | undefined, hash: string | undefined) {
    if (query !== undefined) return documentRequired('the text of a document');
    if (hash === undefined) return documentRequired('no hash');
    const text = this.#persisted.manifest.get(hash);
    return text === undefined ? documentRequired('an unknown hash') : { text };
  }

  #findByHash(hash: string, authorization: string | undefined) {
    if (this.#persisted.mode === 'off') {
      return refusal('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
    }
    const text =
      this.#persisted.manifest.get(hash) ??
      (authorization && this.#registered.get(cacheKey(authorization, hash)));
    // Clients recognize this message and send the text next, so it must stay as it is.
    return text ? { text } : refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
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

function checkHash(text: string, hash: string): GraphQLError | undefined {
  const actual = digest('sha256', text);
  if (actual === hash) return undefined;
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
