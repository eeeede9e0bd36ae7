import { HttpError } from '../http/error.ts';
import type { HttpResponse } from '../http/http-message.ts';
import { type MediaRange, readAccept } from '../http/media-type.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';

/**
 * The formats of incremental delivery by the `Accept` parameter that selects them: graphql-js 17's,
 * and the draft of August 2022.
 */
const deliveryFormats = ['incrementalSpec=v0.2', 'deferSpec=20220824'] as const;

/** How the parts of a result are delivered. */
export interface Delivery {
  readonly format: (typeof deliveryFormats)[number];
  readonly contentType: string;
  /** The status of an error; undefined for its own. */
  readonly errorStatus?: 200;
  /** Formats the JSON of one part, or of a whole result as the only one. */
  readonly frame: (json: string, isFirst: boolean) => string;
  /** What follows the last part. */
  readonly end: string;
}

/** How the results of a request are delivered. */
export interface ResponseFormat {
  /** The media type of a whole result as JSON; undefined if it is delivered as the only part. */
  readonly jsonType: string | undefined;
  /** How parts are delivered; undefined if the client accepts none. */
  readonly delivery: Delivery | undefined;
}

/** The format for a client that accepts anything. */
export const wholeJson: ResponseFormat = { jsonType: 'application/json', delivery: undefined };

/**
 * Reads the format of the response from an `Accept` header. Parts are preferred to JSON of the same
 * weight for a deferred result, and only if they weigh more for a whole one. Wildcards mean JSON,
 * because clients that can't read parts send them too.
 * Returns undefined if the client accepts nothing that can be sent.
 */
export function readFormat(accept: string | undefined): ResponseFormat | undefined {
  if (!accept) return wholeJson;
  const { jsonType, weight, ranges } = readAccept(accept);
  for (const range of ranges) {
    const delivery = range.q >= weight ? deliveryOf(range) : undefined;
    if (delivery) return { jsonType: range.q > weight ? undefined : jsonType, delivery };
  }
  return jsonType === undefined ? undefined : { jsonType, delivery: undefined };
}

/** 406: the client accepts none of the formats. */
export function notAcceptable(accept = ''): HttpError {
  const received = JSON.stringify(accept.slice(0, 100));
  const message = `accept: expected application/json, application/graphql-response+json, text/event-stream or multipart/mixed, received ${received}.`;
  return new HttpError(406, 'NOT_ACCEPTABLE', message);
}

function deliveryOf({ type, params }: MediaRange): Delivery | undefined {
  const isMultipart = type === 'multipart/mixed';
  if (!isMultipart && type !== 'text/event-stream') return undefined;
  const spec = Object.keys(params).find((name) => /^(?:incremental|defer)spec$/.test(name));
  // Clients such as GraphQL Tools, which name no format for it, read only that of August 2022.
  const unnamed = isMultipart ? 'deferspec=20220824' : 'incrementalspec=v0.2';
  const asked = spec ? `${spec}=${params[spec]}` : unnamed;
  const format = deliveryFormats.find((name) => name.toLowerCase() === asked);
  if (format === undefined) return undefined;
  if (isMultipart) {
    const contentType = `${type}; boundary="-"; ${format}`;
    return { format, contentType, frame: frameMultipart, end: '--\r\n' };
  }
  // Its clients read no body of another status, and graphql-sse sends the request again.
  const contentType = `${type}; charset=utf-8`;
  const end = 'event: complete\ndata:\n\n';
  return { format, contentType, errorStatus: 200, frame: frameEvent, end };
}

/**
 * Formats a part whose closing boundary follows immediately, because clients process a part when
 * they receive the boundary (RFC 2046, section 5.1.1).
 */
const frameMultipart: Delivery['frame'] = (json, isFirst) => {
  const head = '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n';
  return `${isFirst ? '\r\n---' : ''}${head}${json}\r\n---`;
};

/** Formats a part as an event in the distinct connections mode of GraphQL over SSE. */
const frameEvent: Delivery['frame'] = (json) =>
  // A line break would end the data. Within JSON it is always white space.
  `event: next\ndata: ${json.replaceAll(/[\r\n]/g, ' ')}\n\n`;

/** Formats a whole result: as JSON, or as the only part. */
export function formatWhole({ jsonType, delivery }: ResponseFormat, json: string) {
  const isPart = jsonType === undefined && delivery !== undefined;
  if (!isPart) return { body: json, contentType: `${jsonType}; charset=utf-8`, isPart };
  const body = delivery.frame(json, true) + delivery.end;
  return { body, contentType: delivery.contentType, isPart };
}

/**
 * Formats an error as a GraphQL result. Its extensions repeat the status and `Retry-After`, because
 * GraphQL clients hide headers.
 */
export function graphqlErrorResult(error: HttpError, requestId: string) {
  const { status, code, message, headers } = error;
  const seconds = headers['retry-after'];
  const retry = seconds && { status, retryAfterMs: Number(seconds) * 1000 };
  // Nothing was executed if the request may be repeated, or its deadline passed.
  const refused = (seconds || status === 504) && { outcome: 'NOT_DONE' };
  return { errors: [{ message, extensions: { code, ...retry, ...refused, requestId } }] };
}

/** Formats an error as a GraphQL response in a format that the client accepts, or else as JSON. */
export function graphqlErrorResponse(
  error: HttpError,
  { head, scope }: Pick<GatewayRequest, 'head' | 'scope'>,
): HttpResponse {
  const format = readFormat(head.headers['accept']) ?? wholeJson;
  const json = JSON.stringify(graphqlErrorResult(error, scope.requestId));
  const { body, contentType, isPart } = formatWhole(format, json);
  const status = (isPart && format.delivery?.errorStatus) || error.status;
  return { status, headers: { 'content-type': contentType, ...error.headers }, body };
}
