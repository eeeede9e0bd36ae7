/** A cache by the text of documents. */
export interface DocumentCache<Value> {
  get(text: string): Value | undefined;
  set(text: string, value: Value): void;
}

/** What a document holds beside its text once it is parsed and compiled, as a multiple of it. */
const weight = 40;

/**
 * Keeps what was last used within a bound in bytes, so that no client can fill the memory with
 * documents; a document that is larger than a tenth of the bound is not kept at all.
 */
export function createDocumentCache<Value>(maxBytes: number): DocumentCache<Value> {
  const entries = new Map<string, Value>();
  let bytes = 0;
  return {
    get(text) {
      const value = entries.get(text);
      if (value === undefined) return undefined;
      // A Map keeps the order of insertion: whatever is used goes to its end.
      entries.delete(text);
      entries.set(text, value);
      return value;
    },
    set(text, value) {
      const size = text.length * weight;
      if (size > maxBytes / 10 || entries.has(text)) return;
      entries.set(text, value);
      bytes += size;
      for (const [oldest] of entries) {
        if (bytes <= maxBytes) break;
        entries.delete(oldest);
        bytes -= oldest.length * weight;
      }
    },
  };
}
