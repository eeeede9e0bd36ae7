import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ApiKey } from '../../limits/api-key.ts';
import { nextSlice, type SliceCaller } from '../../limits/slices.ts';
import type { PrepareDocument } from './engine.ts';
import { PreparedDocument } from './prepared-document.ts';

/**
 * The memory limits of prepared documents, including their compiled code, in bytes; one document may
 * take a quarter. Callers whose key the backend has not accepted fill a part of their own, so that
 * they cannot evict others.
 */
const maxBytes = { accepted: 32 * 1024 * 1024, others: 512 * 1024 };

/**
 * A document of more characters that is not cached waits for a slice: validating 2,000 may take
 * nine milliseconds, because that time is quadratic in the number of equal fields.
 */
const longDocument = 250;

/** The prepared documents that are kept. */
export class Documents {
  readonly #prepare: PrepareDocument;
  readonly #accepted = openCache(maxBytes.accepted);
  readonly #others = openCache(maxBytes.others);

  constructor(prepare: PrepareDocument) {
    this.#prepare = prepare;
  }

  /**
   * Returns the document of a text, or its errors; a promise if it has to be prepared in a slice.
   * @throws HttpError, or rejects with one, if it exceeds a limit. Rejects if the caller is cancelled.
   */
  find(
    text: string,
    caller: SliceCaller,
  ):
    | PreparedDocument
    | readonly GraphQLError[]
    | Promise<PreparedDocument | readonly GraphQLError[]> {
    const { key } = caller;
    const found = this.#get(text, key);
    if (found !== undefined) return found;
    if (text.length <= longDocument) return this.#add(text, key);
    // Another request may have prepared it meanwhile.
    return nextSlice(caller).then(() => this.#get(text, key) ?? this.#add(text, key));
  }

  #get(text: string, key: ApiKey): PreparedDocument | undefined {
    const accepted = this.#accepted.get(text);
    if (accepted !== undefined) return accepted;
    const other = this.#others.get(text);
    if (other !== undefined && key.isAccepted) this.#store(this.#accepted, text, other);
    return other;
  }

  #add(text: string, key: ApiKey): PreparedDocument | readonly GraphQLError[] {
    const document = this.#prepare(text);
    if (document instanceof PreparedDocument) {
      this.#store(key.isAccepted ? this.#accepted : this.#others, text, document);
    }
    return document;
  }

  #store(cache: Cache, text: string, document: PreparedDocument): void {
    cache.set(text, document, { size: document.estimateBytes(text) });
  }
}

type Cache = LRUCache<string, PreparedDocument>;

function openCache(maxSize: number): Cache {
  return new LRUCache<string, PreparedDocument>({ maxSize, maxEntrySize: maxSize / 4 });
}
