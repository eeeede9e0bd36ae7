import { readAccept } from '../../http/media-type.ts';

/**
 * The formats of incremental delivery by the `Accept` parameter that selects them: graphql-js 17's,
 * and the draft of August 2022.
 */
const formats = ['incrementalSpec=v0.2', 'deferSpec=20220824'] as const;

/** The format of the parts of a response. */
export type DeliveryFormat = (typeof formats)[number];

const transports = ['multipart/mixed', 'text/event-stream'] as const;

/** How a response in parts is delivered. */
export interface Delivery {
  readonly transport: (typeof transports)[number];
  readonly format: DeliveryFormat;
}

/**
 * Returns the preferred delivery of an `Accept` header; undefined if there is none or JSON has a
 * higher weight. Wildcards do not count, because clients that can't read parts send them too.
 */
export function readDelivery(accept: string | undefined): Delivery | undefined {
  for (const { type, params } of readAccept(accept).ranges) {
    const transport = transports.find((name) => name === type);
    const spec = Object.keys(params).find((name) => /^(?:incremental|defer)spec$/.test(name));
    const format = formats.find(
      (name) => spec === undefined || name.toLowerCase() === `${spec}=${params[spec]}`,
    );
    if (transport && format) return { transport, format };
  }
  return undefined;
}

/** Returns the `Content-Type` of a response with this delivery. */
export function contentTypeOf({ transport, format }: Delivery): string {
  return transport === 'multipart/mixed'
    ? `${transport}; boundary="-"; ${format}`
    : `${transport}; charset=utf-8`;
}

/**
 * Formats one part. Its closing boundary follows immediately, because clients process a part when
 * they receive the boundary (RFC 2046, section 5.1.1). Event streams use the distinct connections
 * mode of GraphQL over SSE.
 */
export function framePart(
  transport: Delivery['transport'],
  json: string,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): string {
  if (transport === 'text/event-stream') {
    // A line break would end the data. Within JSON it is always white space.
    const line = json.replaceAll(/[\r\n]/g, ' ');
    return `event: next\ndata: ${line}\n\n${isLast ? 'event: complete\ndata:\n\n' : ''}`;
  }
  const head = '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n';
  return `${isFirst ? '\r\n---' : ''}${head}${json}\r\n---${isLast ? '--\r\n' : ''}`;
}
