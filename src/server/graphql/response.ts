import type { Deprecation } from '../../graphql/result.ts';
import { graphqlMediaType } from '../../http/media-type.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import { writeBounded } from './bounded-text.ts';
import { contentTypeOf, type Delivery } from './delivery.ts';
import type { TypedParts } from './typed-parts.ts';
import type { TypedResult } from './typed-result.ts';
import { WrittenParts } from './written-parts.ts';

/**
 * Writes a result as GraphQL over HTTP (section 6.4) says: a result without `data` has the status
 * 400, but 200 for clients that ask for `application/json` and so may know GraphQL over HTTP only as
 * it was before.
 */
export function writeResult(
  result: TypedResult,
  { method, headers }: HttpRequest,
  requestId: string,
): HttpResponse {
  const type = graphqlMediaType(headers['accept']);
  const isRefused = !('data' in result) && type !== 'application/json';
  const { extensions } = result;
  return {
    status: isRefused ? 400 : 200,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      ...deprecationHeaders(extensions?.deprecations ?? []),
      // A browser may keep the response to a GET; a cache that serves several people or keys may not.
      ...(method === 'GET' && { 'cache-control': 'private', vary: 'Authorization, Accept' }),
    },
    body: writeBounded(result, requestId),
  };
}

/**
 * Writes a result in parts. Aborting the request ends the body, also when no part was read: a client
 * may disconnect before the first is written.
 */
export function writeParts(
  parts: TypedParts,
  delivery: Delivery,
  { signal }: HttpRequest,
  requestId: string,
): HttpResponse {
  const body = new WrittenParts(parts, delivery.transport, requestId);
  const leave = () => void body.return();
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return {
    status: 200,
    headers: {
      'content-type': contentTypeOf(delivery),
      ...deprecationHeaders(parts.deprecations),
      'cache-control': 'no-store',
    },
    body,
  };
}

/** What `extensions.deprecations` lists, for programs that read no body: RFC 8594, the first removal. */
function deprecationHeaders(deprecations: readonly Deprecation[]): Record<string, string> {
  const [first] = deprecations;
  if (first === undefined) return {};
  return {
    sunset: new Date(first.removal).toUTCString(),
    link: '</graphql>; rel="successor-version"',
  };
}
