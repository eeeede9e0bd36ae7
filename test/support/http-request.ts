import type { HttpRequest } from '../../src/http/message.ts';

/** A GET of this path as the core receives it, with what a test wants otherwise. */
export function httpRequest(path: string, changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    path,
    search: '',
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
    ...changes,
  };
}
