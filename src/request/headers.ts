import { badRequest, HttpError } from '../http/error.ts';
import type { RequestHead, RequestHeaders } from '../http/http-message.ts';
import type { Scope } from './scope.ts';

/** What headers may ask for. */
export interface HeaderOptions {
  /** The names of the headers that are passed on to the REST service, in lower case. */
  readonly forwardHeaders: readonly string[] | undefined;
  /** The longest time for a request, in milliseconds: a caller that asks for more gets this. */
  readonly maxTimeoutMs: number;
}

/**
 * Sets what the headers of a request ask for: its deadline, the key of its writes, and what is passed on
 * with its calls.
 * @throws HttpError if one is malformed
 */
export function applyHeaders(
  scope: Scope,
  head: RequestHead,
  { forwardHeaders, maxTimeoutMs }: HeaderOptions,
): void {
  const { 'x-petstore-timeout-ms': timeout, 'idempotency-key': key } = head.headers;
  if (timeout !== undefined) scope.setDeadline(parseTimeout(timeout, maxTimeoutMs));
  if (key !== undefined && !/^(?:GET|HEAD)$/.test(head.method)) {
    scope.idempotencyKey = parseIdempotencyKey(key);
  }
  if (forwardHeaders) scope.forwarded = pickHeaders(forwardHeaders, head);
}

function parseTimeout(value: string, maxMs: number): number {
  const ms = /^[1-9][0-9]*$/.test(value) ? Number(value) : 0;
  if (ms >= 1) return Math.min(ms, maxMs);
  const received = JSON.stringify(value.slice(0, 32));
  throw badRequest(`x-petstore-timeout-ms: expected a whole number from 1, received ${received}.`);
}

/** A string of visible characters, as a String of RFC 9651 or without its quotes. */
const keyHeader = /^(?:"((?:[!#-[\]-~]|\\["\\]){1,255})"|([!#-~][!-~]{0,254}))$/;

/** Returns the key of a request's writes (draft-ietf-httpapi-idempotency-key-header-07). @throws HttpError */
export function parseIdempotencyKey(value: string): string {
  const [, quoted, plain] = keyHeader.exec(value) ?? [];
  const key = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain;
  if (key !== undefined) return key;
  const received = JSON.stringify(value.slice(0, 64));
  throw badRequest(`idempotency-key: expected 1 to 255 visible characters, received ${received}.`);
}

/** Maximum size of the forwarded headers of a request, in bytes. */
const maxBytes = 4096;

/** Returns the headers of these names; undefined if there are none. @throws HttpError if one can't be sent */
function pickHeaders(names: readonly string[], { headers, repeated = [] }: RequestHead) {
  let picked: Record<string, string> | undefined;
  let bytes = 0;
  for (const name of names) {
    const value = headers[name];
    if (value === undefined) continue;
    if (repeated.includes(name)) throw badRequest(`${name}: expected it once, received it again.`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw badRequest(`${name}: expected Latin-1 text.`);
    }
    bytes += name.length + value.length;
    picked ??= {};
    picked[name] = value;
  }
  if (bytes <= maxBytes) return picked;
  const message = `${names.join(', ')}: expected at most 4 KiB together, received ${bytes} bytes.`;
  throw new HttpError(431, 'BAD_REQUEST', message);
}

/** The name by which a client identifies itself, unverified; only for logs and metrics. */
export interface ClientName {
  readonly name: string;
  readonly version: string | undefined;
}

/** Reads the name of the application from the headers of Apollo Client and others. */
export function readClientHeaders(headers: RequestHeaders): ClientName | undefined {
  const name = headers['graphql-client-name'] ?? headers['apollographql-client-name'];
  if (name === undefined) return undefined;
  const version = headers['graphql-client-version'] ?? headers['apollographql-client-version'];
  return readClientName({ name, version });
}

/** Reads a name, also from `extensions.clientLibrary`, if it is short and plain text such as `My App (iOS)`. */
export function readClientName(value: unknown): ClientName | undefined {
  const { name, version } = Object(value) as Partial<Record<'name' | 'version', unknown>>;
  const isPlain = (text: unknown): text is string =>
    typeof text === 'string' && /^[\w @.,:/()+-]{1,64}$/.test(text);
  return isPlain(name) ? { name, version: isPlain(version) ? version : undefined } : undefined;
}
