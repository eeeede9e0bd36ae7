import { hash as digest } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { GraphQLError, parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import { badRequest } from '../http/error.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { GraphqlParams } from './host-context.ts';

/** The documents that clients may request by hash. */
export interface PersistedDocuments {
  /**
   * `off`: clients send documents as text. `allow`: as text, or as the hash of one in the manifest
   * or registered by a client. `audit`: the same, and those that `only` would refuse are logged.
   * `only`: as the hash of one in the manifest.
   */
  readonly mode: 'off' | 'allow' | 'audit' | 'only';
  /** Documents by hash, without the prefix `sha256:`. Replaced when the manifests are read again. */
  manifest: ReadonlyMap<string, string>;
}

/** The mode and the files of manifests, in codegen's or Apollo's format; there may be none. */
export interface PersistedDocumentsOptions extends Pick<PersistedDocuments, 'mode'> {
  readonly files: readonly string[] | undefined;
}

/**
 * Reads the manifests as one and verifies their hashes.
 * @throws if a file can't be read or is not a manifest.
 */
export async function openPersistedDocuments({
  mode,
  files,
}: PersistedDocumentsOptions): Promise<PersistedDocuments> {
  if (mode === 'off' || files === undefined) return { mode, manifest: new Map() };
  const manifests = await Promise.all(files.map(readManifest));
  return { mode, manifest: new Map(manifests.flatMap((manifest) => [...manifest])) };
}

async function readManifest(file: string): Promise<PersistedDocuments['manifest']> {
  try {
    // Without a byte order mark.
    return decodeManifest(JSON.parse(new TextDecoder().decode(await readFile(file))));
  } catch (cause) {
    throw new Error(
      `PERSISTED_DOCUMENTS_FILE: expected a manifest of documents by their SHA-256, in codegen's or Apollo's format, in ${file}, found: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function decodeManifest(json: unknown): PersistedDocuments['manifest'] {
  const manifest = new Map<string, string>();
  for (const [id, document] of readEntries(json)) {
    if (typeof id !== 'string') throw new TypeError('an operation without an id');
    const place = `at ${JSON.stringify(id)}`;
    if (typeof document !== 'string') throw new TypeError(`${place}, no text`);
    try {
      parse(document);
    } catch (cause) {
      throw new TypeError(`${place}, ${(cause as Error).message}`, { cause });
    }
    const hash = digest('sha256', document);
    if (withoutPrefix(id) !== hash) {
      throw new TypeError(`${place}, a document with the SHA-256 ${hash}`);
    }
    manifest.set(hash, document);
  }
  if (manifest.size === 0) throw new TypeError('no documents');
  return manifest;
}

/**
 * Returns pairs of hash and document. Codegen's client preset writes them as an object, and
 * Apollo's generate-persisted-query-manifest as a list of operations.
 */
function readEntries(json: unknown): (readonly [id: unknown, document: unknown])[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new TypeError('JSON that is not an object');
  }
  if (!('format' in json)) return Object.entries(json);
  if (json.format !== 'apollo-persisted-query-manifest') {
    throw new TypeError(`the format ${JSON.stringify(json.format)}`);
  }
  const { operations } = json as { readonly operations?: unknown };
  if (!Array.isArray(operations)) throw new TypeError('no list of operations');
  return operations.map((operation) => [operation?.id, operation?.body]);
}

/** Removes the name of the algorithm, with which clients and manifests may prefix a hash. */
function withoutPrefix(hash: string): string {
  return hash.replace(/^sha256:/, '');
}

/** The memory limits of all registered documents and of one, in bytes. */
const maxRegisteredBytes = { maxSize: 4 * 1024 * 1024, maxEntrySize: 1024 * 1024 };

/** The most operations of clients that are remembered, beside which others are warned of again. */
const maxWarned = 5000;

/**
 * Creates the finder of documents by text or hash (GraphQL over HTTP, appendix "Persisted Documents"). With
 * `allow` and `audit`, each API key that the backend has accepted can register documents: a request with text
 * and hash does (Apollo's automatic persisted queries).
 */
export function createDocumentFinder(persisted: PersistedDocuments, { log, metrics }: Reporting) {
  const registered = new LRUCache<string, string>(maxRegisteredBytes);
  const warnFrom = new LRUCache<string, number>({ max: maxWarned });
  const { mode } = persisted;
  return {
    /**
     * Returns the text of the document of a request, or the GraphQL error to respond with.
     * @throws HttpError if the request has neither text nor hash, except in the mode `only`.
     */
    find(params: GraphqlParams, { credential }: ApiKey): string | GraphQLError {
      const { query } = params;
      const { manifest } = persisted;
      const hash = hashOf(params);
      if (mode === 'only') {
        if (query !== undefined) return documentRequired('the text of a document');
        if (hash === undefined) return documentRequired('no hash');
        return manifest.get(hash) ?? documentRequired('an unknown hash');
      }
      if (hash === undefined) {
        if (query !== undefined) return query;
        throw badRequest('query: expected the text of a document, received none.');
      }
      if (mode === 'off') {
        return query ?? codedError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
      }
      if (query === undefined) {
        const text =
          manifest.get(hash) ?? (credential && registered.get(cacheKey(credential, hash)));
        // Clients recognize this message and send the text next, so it must stay as it is.
        return text || codedError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
      }
      const actual = digest('sha256', query);
      return actual === hash ? query : mismatch(actual, hash);
    },

    /**
     * Registers the document of a request with text and hash that was executed, and reports where it is
     * from. With `audit`, also warns of those that `only` would refuse, once per hour of each operation and
     * client. Requests whose key the backend has not accepted are only logged: anyone can send them.
     */
    executed(params: GraphqlParams, { scope: { key }, report }: GatewayRequest): void {
      if (mode !== 'allow' && mode !== 'audit') return;
      const { query } = params;
      const hash = hashOf(params);
      const isListed = query === undefined && persisted.manifest.has(hash ?? '');
      const source = isListed ? 'manifest' : 'sent';
      report.documentSource = source;
      if (!key.isAccepted) return;
      if (query !== undefined && hash !== undefined) {
        // Two bytes per character, plus the cache key and the cache's overhead.
        const size = query.length * 2 + 256;
        registered.set(cacheKey(key.credential, hash), query, { size });
      }
      const operation = metrics.operationLabel(report.operation?.name);
      const client = metrics.clientLabel(report.clientName);
      metrics.documents.inc({ source, operation, client });
      if (mode === 'allow' || isListed) return;
      const shown = {
        operation: report.operation?.name ?? operation,
        client: report.clientName ?? client,
      };
      const name = `${shown.operation} ${shown.client}`;
      if (performance.now() < (warnFrom.get(name) ?? 0)) return;
      warnFrom.set(name, performance.now() + 3_600_000);
      log.warn(shown, 'PERSISTED_DOCUMENTS=only would refuse this document');
    },
  };
}

/** Returns the hash from `documentId` (GraphQL over HTTP) or `extensions` (Apollo's clients). */
function hashOf({ documentId, extensions }: GraphqlParams): string | undefined {
  if (documentId !== undefined) return withoutPrefix(documentId);
  const persistedQuery = extensions?.['persistedQuery'];
  if (typeof persistedQuery !== 'object' || persistedQuery === null) return undefined;
  const { sha256Hash } = persistedQuery as { readonly sha256Hash?: unknown };
  return typeof sha256Hash === 'string' ? withoutPrefix(sha256Hash) : undefined;
}

/** Each API key has its own documents. */
function cacheKey(credential: string, hash: string): string {
  return digest('sha256', `${credential}\n${hash}`);
}

function documentRequired(received: string): GraphQLError {
  return codedError(
    'PERSISTED_DOCUMENT_REQUIRED',
    `This gateway executes only the documents in its manifest: expected the hash of one, received ${received}. Ask its operator to add your document, and send only its hash.`,
  );
}

function mismatch(actual: string, received: string): GraphQLError {
  return codedError(
    'PERSISTED_QUERY_MISMATCH',
    `Hash of the document: expected its SHA-256, ${actual}, received ${received.slice(0, 64)}. Hash the text exactly as you send it.`,
  );
}

function codedError(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
