import type { RequestHeaders } from '../http/http-message.ts';

/** The name by which a client identifies itself, unverified; only for logs and metrics. */
export interface ClientName {
  readonly name: string;
  readonly version: string | undefined;
}

/** Reads the headers of Apollo Client and others, of which one has the name. */
export function readClientHeaders(name: string, headers: RequestHeaders): ClientName | undefined {
  const version = headers['graphql-client-version'] ?? headers['apollographql-client-version'];
  return readClientName(name, version);
}

/** Reads the application's GraphQL library from `extensions.clientLibrary`, an unchecked value. */
export function readClientLibrary(library: unknown): ClientName | undefined {
  if (typeof library !== 'object' || library === null) return undefined;
  const { name, version } = library as { readonly name?: unknown; readonly version?: unknown };
  return readClientName(name, version);
}

/** Returns the client's name if it is short and plain. A version without a name is ignored. */
function readClientName(name: unknown, version: unknown): ClientName | undefined {
  if (!isPlain(name)) return undefined;
  return { name, version: isPlain(version) ? version : undefined };
}

/** Whether a value is text such as `@apollo/client`, `My App (iOS)` and `1.4.2+7`. */
function isPlain(value: unknown): value is string {
  return typeof value === 'string' && /^[\w @.,:/()+-]{1,64}$/.test(value);
}
