import type { Deprecation } from '../../graphql/result.ts';
import { graphqlMediaType } from '../../http/media-type.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import { writeBounded } from './bounded-text.ts';
import type { TypedResult } from './typed-result.ts';

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
      ...(extensions && deprecationHeaders(extensions.deprecations)),
      // A browser may keep the response to a GET; a cache that serves several people or keys may not.
      ...(method === 'GET' && { 'cache-control': 'private', vary: 'Authorization, Accept' }),
    },
    body: writeBounded(result, requestId),
  };
}

/** What `extensions.deprecations` lists, for programs that read no body: RFC 8594, the first removal. */
function deprecationHeaders(deprecations: readonly Deprecation[]): Record<string, string> {
  return {
    sunset: new Date(deprecations[0]?.removal ?? '').toUTCString(),
    link: '</graphql>; rel="successor-version"',
  };
}
