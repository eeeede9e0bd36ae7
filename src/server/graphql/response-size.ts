import { JsonText, stringifyJson } from '../../contract/json.ts';
import type { FailedRequest } from '../../graphql/errors.ts';
import type { TypedError } from '../../graphql/result.ts';
import { sliceBytes } from '../../limits/slices.ts';
import type { TypedResult } from './typed-result.ts';

/** The most characters of a response. */
export const maxResponseLength = 8 * 1024 * 1024;

/** Whether writing a result takes milliseconds, so that it has to wait for a slice. */
export function isLarge(result: TypedResult): boolean {
  return lengthOf(result, sliceBytes) > sliceBytes;
}

/**
 * Encodes a result as JSON of at most `maxResponseLength` characters. Root fields that do not fit
 * become null, each with an error. Only a result that may fit is encoded as a whole, because aliases
 * can repeat what the backend sent.
 */
export function writeBounded(result: TypedResult, record: FailedRequest): string {
  return writeWithin(result, maxResponseLength) ?? write(withoutExcess(result, record));
}

/** Encodes a result, or a part of one, as JSON. Returns undefined if it has more characters. */
export function writeWithin(result: TypedResult, limit: number): string | undefined {
  if (lengthOf(result, limit) > limit) return undefined;
  const text = write(result);
  return text.length > limit ? undefined : text;
}

/** Encodes a result, or a part of one, as JSON. Root fields that are JSON text are copied. */
export function write(result: object): string {
  let text = '';
  for (const [key, value] of Object.entries(result)) {
    text += `${text === '' ? '' : ','}"${key}":${writeMember(key, value)}`;
  }
  return `{${text}}`;
}

function writeMember(key: string, value: unknown): string {
  if (key === 'data' && value) return writeFields(value);
  if (key === 'incremental') return `[${(value as readonly object[]).map(write).join()}]`;
  return stringifyJson(value);
}

function writeFields(value: object): string {
  const data = value as Readonly<Record<string, unknown>>;
  let text = '';
  // A GraphQL name needs no escaping.
  for (const key in data) text += `${text === '' ? '' : ','}"${key}":${writeField(data[key])}`;
  return `{${text}}`;
}

function writeField(value: unknown): string {
  return value instanceof JsonText ? value.text : stringifyJson(value);
}

/**
 * Returns the length of a value as JSON, without escapes. Stops soon after exceeding `enough`.
 *
 * `for…in` instead of `Object.entries` halves the time (docs/performance.md).
 */
function lengthOf(value: unknown, enough: number): number {
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
  const isShort = lengthOf(own, maxResponseLength) <= maxResponseLength;
  const errors = isShort && write(build(own)).length <= maxResponseLength ? own : [tooLarge];
  let left = maxResponseLength - write(build(errors)).length;
  for (const [key, value] of fields) {
    // A field that is kept needs no null, and no error with a comma.
    const space = left + JSON.stringify(omitted.get(key)).length + ',null'.length;
    const length = lengthOf(value, space) > space ? Infinity : writeField(value).length;
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
