/** A client as it names itself. Not verified: for logs and metrics only. */
export interface ClientName {
  readonly name: string;
  readonly version: string | undefined;
}

/** The name if it is short and plain, otherwise undefined. A version needs a name. */
export function readClientName(name: unknown, version: unknown): ClientName | undefined {
  if (!isPlain(name)) return undefined;
  return { name, version: isPlain(version) ? version : undefined };
}

/** Such as `@apollo/client`, `My App (iOS)` and `1.4.2+7`. */
const plain = /^[\w @.,:/()+-]{1,64}$/;

function isPlain(value: unknown): value is string {
  return typeof value === 'string' && plain.test(value);
}
