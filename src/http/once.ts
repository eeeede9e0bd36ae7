/** Caches the result of the first successful call. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Makes one call at a time. Every caller shares it, until `ms` after its end. */
export function oncePer<T>(ms: number, make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  const forget = () => {
    made = undefined;
  };
  return () => {
    made ??= make().finally(() => setTimeout(forget, ms).unref());
    return made;
  };
}
