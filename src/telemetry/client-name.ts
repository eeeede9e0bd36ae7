/** Who sent a request, in its own words: for people who read logs and metrics, and not to be relied on. */
export interface ClientName {
  readonly name: string;
  readonly version: string | undefined;
}

/** A name that is short and plain; undefined for any other value. Without a name no version is kept. */
export function readClientName(name: unknown, version: unknown): ClientName | undefined {
  if (!isPlain(name)) return undefined;
  return { name, version: isPlain(version) ? version : undefined };
}

/** Such as `@apollo/client`, `My App (iOS)` and `1.4.2+7`. */
const plain = /^[\w @.,:/()+-]{1,64}$/;

function isPlain(value: unknown): value is string {
  return typeof value === 'string' && plain.test(value);
}
