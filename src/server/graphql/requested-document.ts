import { hash as digest } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { HttpError } from '../../http/error.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { GraphqlParams } from './params.ts';
import { type PersistedDocuments, withoutPrefix } from './persisted-documents.ts';

/** The most that registered documents take of memory, in bytes. */
const maxRegisteredBytes = 4 * 1024 * 1024;

/** The document that a request asks for. */
export interface RequestedDocument {
  readonly text: string;
  /** Set when the client sent the text with its hash, to send the hash alone from now on. */
  readonly registersAs?: string;
}

/**
 * Finds documents by their text or hash (GraphQL over HTTP, appendix "Persisted Documents"). In the
 * mode `allow` a client may register one by sending it with its hash, for its own key only: Apollo's
 * automatic persisted queries.
 */
export class RequestedDocuments {
  readonly #persisted: PersistedDocuments;
  readonly #registered = new BoundedCache<string>(maxRegisteredBytes);

  constructor(persisted: PersistedDocuments) {
    this.#persisted = persisted;
  }

  /** The error is the protocol's. @throws HttpError when there is neither text nor hash. */
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
          'query: expected the text of an operation, received none.',
        );
      }
      return this.#findByHash(hash, authorization);
    }
    if (hash === undefined || mode === 'off') return { text: query };
    return checkHash(query, hash) ?? { text: query, registersAs: hash };
  }

  /** Lets this key ask for the document by its hash; only for a key that the backend has accepted. */
  register({ text, registersAs }: RequestedDocument, authorization: string | undefined): void {
    if (registersAs === undefined || authorization === undefined) return;
    // A character takes two bytes; the rest is the key and the cache's own bookkeeping.
    this.#registered.add(ownKey(authorization, registersAs), text, text.length * 2 + 256);
  }

  #findInManifest(query: string | undefined, hash: string | undefined) {
    if (query !== undefined) return required('the text of a document');
    if (hash === undefined) return required('no hash');
    const text = this.#persisted.manifest.get(hash);
    return text === undefined ? required('a hash that is not in it') : { text };
  }

  #findByHash(hash: string, authorization: string | undefined) {
    if (this.#persisted.mode === 'off') {
      return refusal('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
    }
    const text =
      this.#persisted.manifest.get(hash) ??
      (authorization && this.#registered.get(ownKey(authorization, hash)));
    // The words are the protocol's: clients look for them, and send the document next.
    return text ? { text } : refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
  }
}

/** The hash as GraphQL over HTTP names it, or as Apollo's clients do. */
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
    `sha256Hash: expected the SHA-256 of the document that came with it, ${actual}, received ${hash.slice(0, 64)}. Hash the text as it is sent.`,
  );
}

/** Of a key only its hash is kept, and one key's documents are not another's. */
function ownKey(authorization: string, hash: string): string {
  return digest('sha256', `${authorization}\n${hash}`);
}

function required(received: string): GraphQLError {
  return refusal(
    'PERSISTED_DOCUMENT_REQUIRED',
    `This gateway answers the documents of its manifest only: expected the hash of one, received ${received}. Ask who runs it to add your document.`,
  );
}

function refusal(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
