import type { FailedRequest } from '../../graphql/errors.ts';
import { readAccept } from '../../http/media-type.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import { contentTypeOf, type Delivery, framePart } from './delivery.ts';
import { EncodedParts } from './encoded-parts.ts';
import { writeBounded } from './response-size.ts';
import type { TypedParts } from './typed-parts.ts';
import type { TypedResult } from './typed-result.ts';

/**
 * Returns the response for a result (GraphQL over HTTP, section 6.4). A result without `data` has
 * the status 400, or 200 for `application/json`, whose clients may predate that specification.
 */
export function writeResult(
  result: TypedResult,
  { method, headers }: HttpRequest,
  record: FailedRequest,
): HttpResponse {
  const { jsonType: type } = readAccept(headers['accept']);
  const isRefused = !('data' in result) && type !== 'application/json';
  return {
    status: isRefused ? 400 : 200,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      // A browser may store the response to a GET; a shared cache may not.
      ...(method === 'GET' && { 'cache-control': 'private', vary: 'Authorization, Accept' }),
    },
    body: writeBounded(result, record),
  };
}

/**
 * Returns the response for a result in parts. Aborting the request ends the body even if no part
 * has been read, because clients may disconnect before the first one is written.
 */
export function writeParts(
  parts: TypedParts,
  delivery: Delivery,
  { signal }: HttpRequest,
  record: FailedRequest,
): HttpResponse {
  const frame = framePart.bind(undefined, delivery.transport);
  const body = new EncodedParts(parts, frame, record);
  const cancel = () => void body.return();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return {
    status: 200,
    headers: {
      'content-type': contentTypeOf(delivery),
      'cache-control': 'no-store',
    },
    body,
  };
}
