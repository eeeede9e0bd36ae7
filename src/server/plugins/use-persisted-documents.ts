import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { readBearer } from '../../contract/bearer.ts';
import { createDocumentCache } from '../document-cache.ts';
import { type PersistedDocuments, withoutPrefix } from '../persisted-documents.ts';

/** The most that registered documents take of memory, in bytes. */
const maxRegisteredBytes = 4 * 1024 * 1024;

/** What a request may carry: a hash as GraphQL over HTTP names it, or as Apollo's clients do. */
type Params = GraphQLParams<
  Record<string, unknown>,
  { persistedQuery?: { sha256Hash?: unknown } }
> & { documentId?: unknown };

/**
 * Answers documents by their hash (GraphQL over HTTP, appendix "Persisted Documents"). In the mode
 * `allow` a client may register one by sending it with its hash, and what it registered is there
 * for its own key only: Apollo's automatic persisted queries.
 */
export function usePersistedDocuments({ mode, manifest }: PersistedDocuments): Plugin {
  const registered = createDocumentCache<string>(
    maxRegisteredBytes,
    // A character takes two bytes; the rest is the key and the cache's own bookkeeping.
    (_key, document) => document.length * 2 + 256,
  );

  const find = (hash: string, authorization: string | null): string => {
    const known = manifest.get(hash);
    if (known !== undefined) return known;
    if (mode === 'only') throw required('a hash that is not in it');
    const own = authorization && registered.get(ownKey(authorization, hash));
    if (own) return own;
    // The words are the protocol's: clients look for them, and send the document next.
    throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
  };

  const register = (document: string, hash: string, authorization: string | null) => {
    const actual = sha256(document);
    if (actual !== hash) {
      throw refusal(
        'PERSISTED_QUERY_MISMATCH',
        `sha256Hash: expected the SHA-256 of the document that came with it, ${actual}, received ${hash.slice(0, 64)}. Hash the text as it is sent.`,
      );
    }
    // Who has no key can ask for nothing, and takes no room from those who do.
    if (isBearer(authorization)) registered.set(ownKey(authorization, hash), document);
  };

  return {
    onParams({ request, params, setParams }) {
      const { documentId, extensions, query }: Params = params;
      const hash = readHash(documentId ?? extensions?.persistedQuery?.sha256Hash);
      const hasText = query !== undefined && query !== null && query !== '';
      if (mode === 'only' && (hasText || hash === undefined)) {
        throw required(hasText ? 'the text of a document' : 'no hash');
      }
      if (hash === undefined) return;
      const authorization = request.headers.get('authorization');
      if (mode === 'off' && !query) {
        throw refusal('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
      }
      if (mode === 'allow' && query && typeof query === 'string') {
        register(query, hash, authorization);
      }
      setParams({
        ...params,
        query: query || find(hash, authorization),
        ...{ documentId: undefined },
      });
    },
  };
}

function isBearer(authorization: string | null): authorization is string {
  try {
    readBearer(authorization);
    return true;
  } catch {
    return false;
  }
}

function readHash(value: unknown): string | undefined {
  return typeof value === 'string' ? withoutPrefix(value) : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Of a key only its hash is kept, and one key's documents are not another's. */
function ownKey(authorization: string, hash: string): string {
  return sha256(`${authorization}\n${hash}`);
}

function required(received: string): GraphQLError {
  return refusal(
    'PERSISTED_DOCUMENT_REQUIRED',
    `This gateway answers the documents of its manifest only: expected the hash of one, received ${received}. Ask who runs it to add your document.`,
  );
}

function refusal(code: string, message: string): GraphQLError {
  // As of any error of a request: 400, unless the client asked for application/json.
  return new GraphQLError(message, { extensions: { code, http: { status: 400, spec: true } } });
}
