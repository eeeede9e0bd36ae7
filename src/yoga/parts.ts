import type { GraphQLError } from 'graphql';
import type { TypedError } from '../graphql/result-types.ts';
import type { BodyParts } from '../http/http-message.ts';
import { nextTurn, turnBytes } from '../limits/turns.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { Delivery } from './delivery.ts';
import {
  lengthOf,
  maxDataLength,
  type Result,
  responseTooLarge,
  typeErrors,
  write,
  writeBounded,
} from './encode-result.ts';
import { typeEach } from './type-own-errors.ts';

type Path = readonly (string | number)[];

/** One part of a result. */
interface Part<Failure> extends Result<Failure> {
  readonly pending?: readonly { readonly id: string; readonly path: Path }[];
  /** Data of deferred fragments: by an id in graphql-js 17's format, by a path in the draft. */
  readonly incremental?: readonly (Result<Failure> & { readonly path?: Path })[];
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly Failure[] }[];
  /** Whether another part follows; missing in a sequence of whole results, as of a live query. */
  readonly hasNext?: boolean;
}

/** One part of a result, and the same as the client receives it. */
export type ResultPart = Part<GraphQLError>;
export type TypedPart = Part<TypedError>;

/** Adds the extensions of the gateway to a result or a part of one. */
export type Extend = <Entry extends object>(entry: Entry) => Entry;

/** A result in parts, and how they are delivered. */
export interface DeliveredParts {
  readonly parts: AsyncIterable<ResultPart>;
  readonly delivery: Delivery;
  readonly extend: Extend | undefined;
  /** Whether they are those of deferred fragments; others are a plugin's, and may not end. */
  readonly isDeferred: boolean;
}

/** Ends parts that nobody reads. */
export const stop = (parts: AsyncIterator<unknown>) => void parts.return?.()?.catch(() => {});

/**
 * Encodes the parts of a result, each when it is read. Read them to the end, or call `return`, which
 * cancels the calls in flight. The end of the parts is that of the request.
 */
export function encodeParts(result: DeliveredParts, request: GatewayRequest): BodyParts {
  const parts = result.parts[Symbol.asyncIterator]();
  const texts = writeParts({ ...result, parts: { [Symbol.asyncIterator]: () => parts } }, request);
  const body: BodyParts = Object.assign(texts, {
    async return() {
      request.scope.cancel();
      // The rest is read, so that its errors are reported.
      if (result.isDeferred) while (!(await texts.next()).done);
      stop(parts);
      request.end();
      return { value: undefined, done: true as const };
    },
    // Node's streams call it when the client disconnects.
    throw: () => body.return(),
    end() {
      request.scope.cancel('deadline');
      if (!result.isDeferred) stop(parts);
    },
  });
  return body;
}

/**
 * Writes each part. One limit applies to all of them: the part that exceeds it is replaced by a last
 * one, with an error for every pending fragment. A large part waits for a turn.
 */
async function* writeParts(
  { parts, delivery, extend }: DeliveredParts,
  request: GatewayRequest,
): AsyncGenerator<string, undefined, void> {
  const { scope, report } = request;
  const pending = new Set<string>();
  let left = maxDataLength;
  let isFirst = true;
  let isLast = false;
  try {
    for await (const untyped of parts) {
      const part = typeEach<object>(extend?.(untyped) ?? untyped, (one) =>
        typeErrors(one, request),
      ) as TypedPart;
      if (isLast) continue;
      if (lengthOf(part, turnBytes) > turnBytes) await nextTurn({ key: scope.key });
      if (isFirst && !scope.cancelled) report.firstPartMs = performance.now() - scope.startedAt;
      // Measured first: V8 fails to write a part that is far too large.
      let text = lengthOf(part, left) > left ? undefined : write(part);
      const isExcess = text === undefined || text.length > left;
      if (text === undefined || isExcess) {
        scope.cancel();
        report.codes.push('RESPONSE_TOO_LARGE');
        text = isFirst ? writeOnly(part, request) : write(endOf(pending, delivery, request));
      }
      for (const { id } of part.pending ?? []) pending.add(id);
      for (const { id } of part.completed ?? []) pending.delete(id);
      left -= text.length;
      isLast = isExcess || part.hasNext === false;
      yield delivery.frame(text, isFirst) + (isLast ? delivery.end : '');
      isFirst = false;
    }
    if (!isLast) yield delivery.end;
  } catch (error) {
    request.reportError(error);
    throw error;
  } finally {
    request.end();
  }
}

/** Writes the first part as the only one. */
function writeOnly({ errors = [], ...part }: TypedPart, request: GatewayRequest): string {
  const text = writeBounded({ ...part, errors: [...errors, responseTooLarge(request)] }, request);
  return `${text.slice(0, -1)},"hasNext":false}`;
}

/** Returns a last part with an error for the fragments that are pending. */
function endOf(
  pending: Iterable<string>,
  { format }: Delivery,
  request: GatewayRequest,
): TypedPart {
  const errors = [responseTooLarge(request)];
  return format === 'deferSpec=20220824'
    ? { incremental: [{ data: null, path: [], errors }], hasNext: false }
    : { completed: Array.from(pending, (id) => ({ id, errors })), hasNext: false };
}
