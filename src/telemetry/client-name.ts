/** The name that a client sends of itself, for logs and metrics only: it is not verified. */
export interface ClientName {
  readonly name: string;
  readonly version: string | undefined;
}

/** Returns the client's name if it is short and plain. A version without a name is ignored. */
export function readClientName(name: unknown, version: unknown): ClientName | undefined {
  if (!isPlain(name)) return undefined;
  return { name, version: isPlain(version) ? version : undefined };
}

/** For example `@apollo/client`, `My App (iOS)` and `1.4.2+7`. */
const plain = /^[\w @.,:/()+-]{1,64}$/;

function isPlain(value: unknown): value is string {
  return typeof value === 'string' && plain.test(value);
}
