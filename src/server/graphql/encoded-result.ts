import type { GraphQLError } from 'graphql';
import { JsonText, stringifyJson } from '../../contract/json.ts';
import { type FailedRequest, typedError } from '../../graphql/errors.ts';
import type { ExplainedCall, ResultExtensions, TypedError } from '../../graphql/result.ts';
import type { BodyParts } from '../../http/message.ts';
import type { Refuse } from '../../http/refuse.ts';
import { nextSlice, sliceBytes } from '../../limits/slices.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';

/**
 * A result of graphql-js or of compiled code. It has no `data` if the operation was not executed.
 */
export interface EngineResult<Failure = GraphQLError> {
  readonly errors?: readonly Failure[];
  readonly data?: Record<string, unknown> | null;
}

/** A result as the client receives it. */
export interface TypedResult extends EngineResult<TypedError> {
  readonly extensions?: ResultExtensions;
}

/** A result as JSON text, whole or in parts. It has `data` if the operation was executed. */
export type EncodedResult =
  | { readonly body: string; readonly isExecuted: boolean }
  | { readonly body: BodyParts; readonly isExecuted: true; readonly contentType: string };

/** The request whose result is encoded. */
export interface EncodingContext {
  readonly record: RequestRecord;
  /** The key that the request counts as in limits. */
  readonly key: number;
  /** The deprecated fields that the operation uses. */
  readonly deprecations?: ResultExtensions['deprecations'];
  /** Returns the REST calls so far, if the caller asks for them. */
  readonly explainedCalls?: (() => readonly ExplainedCall[]) | undefined;
  /** Logs unexpected errors. */
  readonly refuse: Refuse;
}

/** The most characters of a response. */
export const maxResponseLength = 8 * 1024 * 1024;

/**
 * Encodes a result of at most `maxResponseLength` characters. Root fields that do not fit become
 * null, each with an error. A large result waits for a slice.
 */
export async function encodeResult(
  result: EngineResult,
  context: EncodingContext,
): Promise<EncodedResult> {
  const typed = typeResult(result, context);
  const isExecuted = 'data' in typed;
  if (lengthOf(typed, sliceBytes) <= sliceBytes) return { body: write(typed), isExecuted };
  await nextSlice(context.key);
  return { body: writeBounded(typed, context.record), isExecuted };
}

/** Encodes a result as `encodeResult` does, without waiting. */
export function writeBounded(result: TypedResult, record: RequestRecord): string {
  const text = writeWithin(result, maxResponseLength);
  if (text !== undefined) return text;
  const bounded = withoutExcess(result, record);
  record.codes = bounded.errors?.map(({ extensions }) => extensions.code) ?? [];
  return write(bounded);
}

/** Types the errors of a result, or of its first part, and adds extensions if it was executed. */
export function typeResult<Result extends EngineResult>(result: Result, context: EncodingContext) {
  const { deprecations = [], explainedCalls } = context;
  const typed = typeErrors(result, context);
  if (!('data' in typed) || (deprecations.length === 0 && !explainedCalls)) return typed;
  const extensions = {
    ...(deprecations.length > 0 && { deprecations }),
    ...(explainedCalls && { calls: explainedCalls() }),
  };
  return { ...typed, extensions };
}

/**
 * Gives each error of a result, or of an entry of a part, its code and the request's id, and records
 * the codes. All errors pass through here last, so no unexpected error reaches the client unmasked.
 */
export function typeErrors<Entry extends { readonly errors?: readonly GraphQLError[] }>(
  entry: Entry,
  { record, refuse }: EncodingContext,
) {
  if (entry.errors === undefined) return entry as Omit<Entry, 'errors'>;
  const { errors, ...rest } = entry;
  const report = (cause: unknown) => refuse(cause, record.requestId);
  const typed = errors.map((error) => typedError(error, record, report));
  record.codes = [...record.codes, ...typed.map(({ extensions }) => extensions.code)];
  return { errors: typed, ...rest };
}

/** Encodes a result, or a part of one, as JSON. Returns undefined if it has more characters. */
export function writeWithin(result: TypedResult, limit: number): string | undefined {
  if (lengthOf(result, limit) > limit) return undefined;
  const text = write(result);
  return text.length > limit ? undefined : text;
}

/** Encodes a result, a part of one, or its data, as JSON. Root fields that are JSON text are copied. */
export function write(object: object, isData = false): string {
  const members = object as Readonly<Record<string, unknown>>;
  let text = '';
  // The names are GraphQL's, which need no escaping.
  for (const name in members) {
    const value = members[name];
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}"${name}":`;
    if (isData || !value) text += stringifyJson(value);
    else if (name === 'data') text += write(value, true);
    else if (name !== 'incremental') text += stringifyJson(value);
    else text += `[${(value as readonly object[]).map((one) => write(one)).join()}]`;
  }
  return `{${text}}`;
}

/**
 * Returns the length of a value as JSON, without escapes. Stops soon after exceeding `enough`.
 *
 * `for…in` instead of `Object.entries` halves the time (docs/performance.md).
 */
export function lengthOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (value instanceof JsonText) return value.text.length;
  if (JSON.isRawJSON(value)) return value.rawJSON.length;
  // Each member or item is followed by a comma, or the last one by a bracket.
  let length = 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && length <= enough; index++) {
      length += 1 + lengthOf(value[index], enough - length);
    }
    return Math.max(2, length);
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    if (length > enough) break;
    length += key.length + 4 + lengthOf(members[key], enough - length);
  }
  return Math.max(2, length);
}

/**
 * Keeps the root fields that fit, in order; the others become null, each with an error. Errors that
 * do not fit without any field are replaced with one.
 */
export function withoutExcess(
  { errors: own = [], data, ...rest }: TypedResult,
  record: FailedRequest,
): TypedResult {
  const tooLarge = responseTooLarge(record);
  const fields = Object.entries(data ?? {}).filter(([, value]) => value !== null);
  const omitted = new Map(fields.map(([key]) => [key, { ...tooLarge, path: [key] }]));
  const kept = data && Object.fromEntries(Object.keys(data).map((key) => [key, null as unknown]));
  const build = (errors: readonly TypedError[]): TypedResult => ({
    errors: [...errors, ...omitted.values()],
    ...(kept !== undefined && { data: kept }),
    ...rest,
  });
  const errors = writeWithin(build(own), maxResponseLength) === undefined ? [tooLarge] : own;
  let left = maxResponseLength - write(build(errors)).length;
  for (const [key, value] of fields) {
    // A field that is kept needs no null, and no error with a comma.
    const space = left + JSON.stringify(omitted.get(key)).length + ',null'.length;
    const length = lengthOf(value, space) > space ? Infinity : stringifyJson(value).length;
    if (length > space || !kept) continue;
    kept[key] = value;
    omitted.delete(key);
    left = space - length;
  }
  return build(errors);
}

/** Returns the error for omitted data, without a path. */
export function responseTooLarge({ requestId, isMutation }: FailedRequest): TypedError {
  return {
    message: `The response is too large: expected at most ${maxResponseLength} characters. Request fewer fields at a time.`,
    extensions: { code: 'RESPONSE_TOO_LARGE', ...(isMutation && { outcome: 'DONE' }), requestId },
  };
}
