import type { GraphQLError } from 'graphql';
import type { TypedError } from '../graphql/result.ts';
import { readAccept } from '../http/media-type.ts';
import type { BodyParts } from '../http/message.ts';
import { nextSlice, sliceBytes } from '../limits/slices.ts';
import type { RequestRecord } from '../request/request-record.ts';
import {
  type EncodingContext,
  lengthOf,
  maxDataLength,
  type Result,
  responseTooLarge,
  typeErrors,
  write,
  writeBounded,
} from './result.ts';

/**
 * The formats of incremental delivery by the `Accept` parameter that selects them: graphql-js 17's,
 * and the draft of August 2022.
 */
export const deliveryFormats = ['incrementalSpec=v0.2', 'deferSpec=20220824'] as const;

/** How the parts of a result are delivered. */
export interface Delivery {
  readonly format: (typeof deliveryFormats)[number];
  readonly contentType: string;
  /** Formats the JSON of one part. */
  readonly frame: (
    json: string,
    position: { readonly isFirst: boolean; readonly isLast: boolean },
  ) => string;
}

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

type Path = readonly (string | number)[];

/** Data of a deferred fragment: by its id in graphql-js 17's format, by its path in the draft. */
interface Increment<Failure> extends Result<Failure> {
  readonly id?: string;
  readonly label?: string;
  readonly path?: Path;
  readonly subPath?: Path;
}

/** One part of a result. */
interface Part<Failure> extends Result<Failure> {
  readonly pending?: readonly { readonly id: string; readonly path: Path }[];
  readonly incremental?: readonly Increment<Failure>[];
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly Failure[] }[];
  /** Whether another part follows. */
  readonly hasNext: boolean;
}

/** One part of a result, and the same as the client receives it. */
export type ResultPart = Part<GraphQLError>;
export type TypedPart = Part<TypedError>;

/** A result in parts, and how they are delivered. */
export interface DeliveredParts {
  readonly parts: AsyncIterable<ResultPart>;
  readonly delivery: Delivery;
}

/** The parts of a result as text. */
export interface EncodedParts {
  readonly body: BodyParts;
  readonly contentType: string;
}

/**
 * Encodes the parts of a result, each when it is read. Read them to the end, or call `return`, which
 * cancels the calls in flight. The end of the parts is that of the record.
 */
export function encodeParts(
  { parts, delivery }: DeliveredParts,
  context: EncodingContext,
): EncodedParts {
  const { record } = context;
  const texts = writeParts({ parts, delivery }, context);
  const body: BodyParts = Object.assign(texts, {
    async return() {
      record.cancel();
      // The rest is read, so that its errors are recorded.
      while (!(await texts.next()).done);
      return { value: undefined, done: true as const };
    },
    end() {
      record.cancel('deadline');
    },
  });
  return { body, contentType: delivery.contentType };
}

function typePart(
  { incremental, completed, ...part }: ResultPart,
  context: EncodingContext,
): TypedPart {
  return {
    ...typeErrors(part, context),
    ...(incremental && { incremental: incremental.map((one) => typeErrors(one, context)) }),
    ...(completed && { completed: completed.map((one) => typeErrors(one, context)) }),
  };
}

/**
 * Writes each part. One limit applies to all of them: the part that exceeds it is replaced by a last
 * one, with an error for every pending fragment. A large part waits for a slice.
 */
async function* writeParts(
  { parts, delivery }: DeliveredParts,
  context: EncodingContext,
): AsyncGenerator<string, undefined, void> {
  const { record, refuse } = context;
  const pending = new Set<string>();
  let left = maxDataLength;
  let isFirst = true;
  let isLast = false;
  try {
    for await (const untyped of parts) {
      const part = typePart(untyped, context);
      if (isLast) continue;
      if (lengthOf(part, sliceBytes) > sliceBytes) await nextSlice({ key: record.key });
      if (isFirst && !record.cancelled) record.onFirstPart();
      // Measured first: V8 fails to write a part that is far too large.
      let text = lengthOf(part, left) > left ? undefined : write(part);
      const isExcess = text === undefined || text.length > left;
      if (text === undefined || isExcess) {
        record.cancel();
        record.codes.push('RESPONSE_TOO_LARGE');
        text = isFirst ? writeOnly(part, record) : write(endOf(pending, delivery, record));
      }
      for (const { id } of part.pending ?? []) pending.add(id);
      for (const { id } of part.completed ?? []) pending.delete(id);
      left -= text.length;
      isLast = isExcess || !part.hasNext;
      yield delivery.frame(text, { isFirst, isLast });
      isFirst = false;
    }
  } catch (error) {
    refuse(error, record.requestId);
    throw error;
  } finally {
    record.end();
  }
}

/** Writes the first part as the only one. */
function writeOnly({ errors = [], ...part }: TypedPart, record: RequestRecord): string {
  const text = writeBounded({ ...part, errors: [...errors, responseTooLarge(record)] }, record);
  return `${text.slice(0, -1)},"hasNext":false}`;
}

/** Returns a last part with an error for the fragments that are pending. */
function endOf(pending: Iterable<string>, { format }: Delivery, record: RequestRecord): TypedPart {
  const errors = [responseTooLarge(record)];
  return format === 'deferSpec=20220824'
    ? { incremental: [{ data: null, path: [], errors }], hasNext: false }
    : { completed: Array.from(pending, (id) => ({ id, errors })), hasNext: false };
}
