import type { HttpRequest } from '../../src/http/message.ts';
import { keyOf } from '../../src/limits/key.ts';

/** Creates a GET request for this path as the core receives it, with these changes. */
export function httpRequest(path: string, changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    scheme: 'http',
    path,
    search: '',
    headers: {},
    key: keyOf(changes.headers?.authorization),
    body: new Uint8Array(),
    mayStream: true,
    signal: new AbortController().signal,
    ...changes,
  };
}
