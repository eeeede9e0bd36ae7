/** Returns a new key, with which the writes of a mutation are done once, however often it is sent. */
export function createIdempotencyKey(): string {
  // React Native has no `crypto`, and pages on plain HTTP no `randomUUID`. A key only has to be unique.
  const random = () => Math.random().toString(36).slice(2);
  return globalThis.crypto?.randomUUID?.() ?? `${random()}-${random()}-${Date.now()}`;
}
