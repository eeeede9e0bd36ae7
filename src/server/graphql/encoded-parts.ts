import type {
  ExperimentalIncrementalExecutionResults,
  GraphQLError,
  LegacyExperimentalIncrementalExecutionResults,
} from 'graphql';
import type { FailedRequest } from '../../graphql/errors.ts';
import type { TypedError } from '../../graphql/result.ts';
import type { BodyParts } from '../../http/message.ts';
import { nextSlice, sliceBytes } from '../../limits/slices.ts';
import {
  type EncodingContext,
  type EngineResult,
  lengthOf,
  maxResponseLength,
  responseTooLarge,
  type TypedResult,
  typeErrors,
  typeResult,
  withoutExcess,
  write,
  writeWithin,
} from './encoded-result.ts';

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

/** The result of an operation with deferred fragments, from graphql-js. */
export type EngineParts =
  | ExperimentalIncrementalExecutionResults
  | LegacyExperimentalIncrementalExecutionResults;

type Path = readonly (string | number)[];

/**
 * Data of a deferred fragment, identified by id in graphql-js 17's format and by path in the draft.
 */
interface Increment<Failure> extends EngineResult<Failure> {
  readonly id?: string;
  readonly label?: string;
  readonly path?: Path;
  readonly subPath?: Path;
}

/** One part of a result. */
interface Part<Failure> extends EngineResult<Failure> {
  readonly pending?: readonly { readonly id: string; readonly path: Path }[];
  readonly incremental?: readonly Increment<Failure>[];
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly Failure[] }[];
  /** Whether another part follows. */
  readonly hasNext: boolean;
}

/** One part of a result as the client receives it. */
export type TypedPart = Part<TypedError> & TypedResult;

/** Options of `encodeParts`. */
export interface EncodePartsOptions extends EncodingContext {
  readonly delivery: Delivery;
  /** Disposed after the last part, or when the rest is cancelled. */
  readonly scope: DisposableStack;
  /** Aborts the calls of the operation. */
  readonly calls: AbortController;
}

/**
 * Encodes the parts of a result, each when it is read. Read them to the end, or call `return`, which
 * cancels the calls in flight.
 */
export function encodeParts(parts: EngineParts, options: EncodePartsOptions): BodyParts {
  const { calls } = options;
  const texts = writeParts(typeParts(parts, options), options);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => texts.next(),
    async return() {
      calls.abort();
      // The rest is read, so that its errors are recorded.
      while (!(await texts.next()).done);
      return { value: undefined, done: true };
    },
    end() {
      calls.abort(new DOMException('The gateway is shutting down.', 'TimeoutError'));
    },
  };
}

async function* typeParts(
  { initialResult, subsequentResults }: EngineParts,
  options: EncodePartsOptions,
): AsyncGenerator<TypedPart, undefined, void> {
  const { explainedCalls } = options;
  const type = <Entry extends Pick<EngineResult, 'errors'>>(entry: Entry) =>
    typeErrors(entry, options);
  const first: EngineResult & { readonly hasNext: boolean } = initialResult;
  const later: AsyncIterable<Part<GraphQLError>> = subsequentResults;
  yield typeResult(first, options);
  for await (const { incremental, completed, ...part } of later) {
    yield {
      ...typeErrors(part, options),
      ...(incremental && { incremental: incremental.map(type) }),
      ...(completed && { completed: completed.map(type) }),
      ...(explainedCalls && { extensions: { calls: explainedCalls() } }),
    };
  }
}

/**
 * Writes each part. One limit applies to their JSON together: the part that exceeds it becomes the
 * last, with an error for every pending fragment. A large part waits for a slice.
 */
async function* writeParts(
  parts: AsyncIterable<TypedPart>,
  { delivery, record, refuse, key, scope, calls }: EncodePartsOptions,
): AsyncGenerator<string, undefined, void> {
  const pending = new Set<string>();
  let left = maxResponseLength;
  /** Replaces the next part if that is too large; undefined before the first. */
  let end: string | undefined;
  let isLast = false;
  try {
    for await (const part of parts) {
      if (isLast) continue;
      if (lengthOf(part, sliceBytes) > sliceBytes) await nextSlice(key);
      const isFirst = end === undefined;
      if (isFirst && !calls.signal.aborted) record.onFirstPart();
      for (const { id } of part.pending ?? []) pending.add(id);
      for (const { id } of part.completed ?? []) pending.delete(id);
      const nextEnd = part.hasNext ? write(endOf(pending, delivery, record)) : '';
      const whole = writeWithin(part, left - nextEnd.length);
      if (whole === undefined) {
        calls.abort();
        record.codes = [...record.codes, responseTooLarge(record).extensions.code];
      }
      const text = whole ?? end ?? write(withoutRest(part, record));
      left -= text.length;
      end = nextEnd;
      isLast = whole === undefined || !part.hasNext;
      yield delivery.frame(text, { isFirst, isLast });
    }
  } catch (error) {
    refuse(error, record.requestId);
    throw error;
  } finally {
    scope.dispose();
  }
}

/** Returns a last part with an error for the fragments that are pending. */
function endOf(pending: Iterable<string>, { format }: Delivery, record: FailedRequest): TypedPart {
  const errors = [responseTooLarge(record)];
  return format === 'deferSpec=20220824'
    ? { incremental: [{ data: null, path: [], errors }], hasNext: false }
    : { completed: Array.from(pending, (id) => ({ id, errors })), hasNext: false };
}

/** Returns the first part as the only one. */
function withoutRest(
  { pending: _, errors = [], ...part }: TypedPart,
  record: FailedRequest,
): TypedResult {
  const only = { ...part, errors: [...errors, responseTooLarge(record)], hasNext: false };
  return withoutExcess(only, record);
}
