import { LRUCache } from 'lru-cache';
import type { ApiKey } from '../keys/api-key.ts';
import { nextSlice, type SliceCaller } from '../limits/slices.ts';
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

/**
 * Creates the cache of prepared documents. It returns the document of a text, or its errors; a promise if
 * the document has to be prepared in a slice.
 * @throws HttpError, or rejects with one, if it exceeds a limit. Rejects if the caller is cancelled.
 */
export function createDocumentCache(prepare: PrepareDocument) {
  const accepted = openCache(maxBytes.accepted);
  const others = openCache(maxBytes.others);

  function get(text: string, key: ApiKey): PreparedDocument | undefined {
    const found = accepted.get(text);
    if (found !== undefined) return found;
    const other = others.get(text);
    if (other !== undefined && key.isAccepted) store(accepted, text, other);
    return other;
  }

  function add(text: string, key: ApiKey) {
    const document = prepare(text);
    if (document instanceof PreparedDocument) {
      store(key.isAccepted ? accepted : others, text, document);
    }
    return document;
  }

  return (text: string, caller: SliceCaller) => {
    const { key } = caller;
    const found = get(text, key);
    if (found !== undefined) return found;
    if (text.length <= longDocument) return add(text, key);
    // Another request may have prepared it meanwhile.
    return nextSlice(caller).then(() => get(text, key) ?? add(text, key));
  };
}

type Cache = LRUCache<string, PreparedDocument>;

function openCache(maxSize: number): Cache {
  return new LRUCache<string, PreparedDocument>({ maxSize, maxEntrySize: maxSize / 4 });
}

function store(cache: Cache, text: string, document: PreparedDocument): void {
  cache.set(text, document, { size: document.estimateBytes(text) });
}
