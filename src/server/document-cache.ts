/** A cache of what belongs to documents. */
export interface DocumentCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** What a document holds beside its text once it is parsed and compiled, as a multiple of it. */
const weight = 480;

/**
 * Keeps what was last used within a bound in bytes, so that no client can fill the memory with
 * documents; a document that is larger than a quarter of the bound is not kept at all. Unless `sizeOf`
 * knows better, the key is the text of a document that is kept parsed.
 */
export function createDocumentCache<Value>(
  maxBytes: number,
  sizeOf: (key: string, value: Value) => number = (text) => text.length * weight,
): DocumentCache<Value> {
  const entries = new Map<string, Value>();
  let bytes = 0;
  let lastUsed: string | undefined;
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined || key === lastUsed) return value;
      // A Map keeps the order of insertion: whatever is used goes to its end.
      entries.delete(key);
      entries.set(key, value);
      lastUsed = key;
      return value;
    },
    set(key, value) {
      const size = sizeOf(key, value);
      if (size > maxBytes / 4 || entries.has(key)) return;
      entries.set(key, value);
      lastUsed = key;
      bytes += size;
      for (const [oldest, itsValue] of entries) {
        if (bytes <= maxBytes) break;
        entries.delete(oldest);
        bytes -= sizeOf(oldest, itsValue);
      }
    },
  };
}
