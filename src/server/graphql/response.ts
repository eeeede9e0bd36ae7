import { readAccept } from '../../http/media-type.ts';
import type { HttpResponse } from '../../http/message.ts';
import type { RequestRecord } from '../request-record.ts';
import { type Delivery, deliveryFormats } from './parts.ts';
import type { EncodedResult } from './result.ts';

/**
 * Returns the preferred delivery of an `Accept` header; undefined if there is none or JSON has a
 * higher weight. Wildcards do not count, because clients that can't read parts send them too.
 */
export function readDelivery(accept: string | undefined): Delivery | undefined {
  for (const { type, params } of readAccept(accept).ranges) {
    const isMultipart = type === 'multipart/mixed';
    if (!isMultipart && type !== 'text/event-stream') continue;
    const spec = Object.keys(params).find((name) => /^(?:incremental|defer)spec$/.test(name));
    const format = deliveryFormats.find(
      (name) => spec === undefined || name.toLowerCase() === `${spec}=${params[spec]}`,
    );
    if (format === undefined) continue;
    return isMultipart
      ? { format, contentType: `${type}; boundary="-"; ${format}`, frame: frameMultipart }
      : { format, contentType: `${type}; charset=utf-8`, frame: frameEvent };
  }
  return undefined;
}

/**
 * Formats a part whose closing boundary follows immediately, because clients process a part when
 * they receive the boundary (RFC 2046, section 5.1.1).
 */
const frameMultipart: Delivery['frame'] = (json, { isFirst, isLast }) => {
  const head = '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n';
  return `${isFirst ? '\r\n---' : ''}${head}${json}\r\n---${isLast ? '--\r\n' : ''}`;
};

/** Formats a part as an event in the distinct connections mode of GraphQL over SSE. */
const frameEvent: Delivery['frame'] = (json, { isLast }) => {
  // A line break would end the data. Within JSON it is always white space.
  const line = json.replaceAll(/[\r\n]/g, ' ');
  return `event: next\ndata: ${line}\n\n${isLast ? 'event: complete\ndata:\n\n' : ''}`;
};

/**
 * Returns the response for a result (GraphQL over HTTP, section 6.4). A result without `data` has
 * the status 400, or 200 for `application/json`, whose clients may predate that specification.
 * Cancelling the request ends a body in parts even if none has been read, because clients may
 * disconnect before the first one is written.
 */
export function toResponse(record: RequestRecord, result: EncodedResult): HttpResponse {
  if ('contentType' in result) {
    const { body, contentType } = result;
    // The body has reported its own failure.
    const cancel = () => void body.return().catch(() => {});
    if (record.cancelled) cancel();
    else record.onCancel = cancel;
    const headers = { 'content-type': contentType, 'cache-control': 'no-store' };
    return { status: 200, headers, body: '', parts: body };
  }
  const { body, isExecuted } = result;
  const { jsonType: type } = readAccept(record.headers.accept);
  const headers: Record<string, string> = { 'content-type': `${type}; charset=utf-8` };
  if (record.method === 'GET') {
    // A browser may store the response; a shared cache may not.
    headers['cache-control'] = 'private';
    headers['vary'] = 'Authorization, Accept, X-Petstore-Explain';
  }
  if (record.headers['x-petstore-explain']) headers['cache-control'] = 'no-store';
  return { status: isExecuted || type === 'application/json' ? 200 : 400, headers, body };
}
