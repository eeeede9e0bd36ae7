import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ApiKey } from '../keys/api-key.ts';
import type { PreparedDocument } from './prepared-document.ts';

/**
 * The memory limits of prepared documents, including their compiled code, in bytes; one document may
 * take a quarter. Callers whose key the backend has not accepted fill a part of their own, so that
 * they cannot evict others.
 */
const maxBytes = { accepted: 32 * 1024 * 1024, others: 512 * 1024 };

/** A document of more characters that is not cached waits for a turn: validating 2,000 takes up to four ms. */
const longDocument = 250;

/** The valid documents of all operations, by their text. */
export class PreparedDocuments {
  readonly #accepted = openCache(maxBytes.accepted);
  readonly #others = openCache(maxBytes.others);
  readonly #prepared = new WeakMap<DocumentNode, PreparedDocument>();

  /** Whether the document of a text has to be prepared, in a turn of its own. */
  isLong(text: string): boolean {
    return text.length > longDocument && !this.#accepted.has(text) && !this.#others.has(text);
  }

  /** Returns the document of a text; undefined if it has to be parsed. */
  find(text: string, key: ApiKey): PreparedDocument | undefined {
    const found = this.#accepted.get(text);
    if (found !== undefined) return found;
    const other = this.#others.get(text);
    if (other !== undefined && key.isAccepted) store(this.#accepted, text, other);
    return other;
  }

  /** Returns a document that has been prepared, also one that is no longer cached. */
  get(document: DocumentNode): PreparedDocument | undefined {
    return this.#prepared.get(document);
  }

  /** Adds a document. Only one that was parsed from a text is found by it. */
  add(prepared: PreparedDocument, key: ApiKey): void {
    const { document } = prepared;
    this.#prepared.set(document, prepared);
    const text = document.loc?.source.body;
    if (text !== undefined) store(key.isAccepted ? this.#accepted : this.#others, text, prepared);
  }
}

type Cache = LRUCache<string, PreparedDocument>;

function openCache(maxSize: number): Cache {
  return new LRUCache<string, PreparedDocument>({ maxSize, maxEntrySize: maxSize / 4 });
}

function store(cache: Cache, text: string, document: PreparedDocument): void {
  cache.set(text, document, { size: document.estimateBytes(text) });
}
