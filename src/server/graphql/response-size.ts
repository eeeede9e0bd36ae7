import { stringifyJson } from '../../contract/json.ts';
import { JsonText } from '../../execution/records-text.ts';
import type { TypedError } from '../../graphql/result.ts';
import { takeTurn, turnBytes } from '../../turns.ts';
import type { TypedResult } from './typed-result.ts';

/** The most characters of a response. */
export const maxResponseLength = 8 * 1024 * 1024;

/**
 * Limits the size of a result: the root fields that exceed it become null, each with an error.
 * Large results wait for their turn. Only results of documents with aliases need this, because
 * aliases can repeat what the backend sent.
 */
export async function limitResult(
  result: TypedResult,
  requestId: string,
  authorization: string | undefined,
): Promise<TypedResult> {
  const { data } = result;
  if (!data) return result;
  // A field of the type JSON has the same value under each of its aliases.
  const known = new Map<unknown, number>();
  const measure = (value: unknown) => {
    const length = known.get(value) ?? lengthOf(value, maxResponseLength);
    known.set(value, length);
    return length;
  };
  let total = 0;
  for (const value of Object.values(data)) total += measure(value);
  if (total > turnBytes) await takeTurn(authorization);
  return total > maxResponseLength ? withoutExcess(result, requestId, measure) : result;
}

/** Encodes a result as JSON. Root fields that are JSON text already are copied. */
function write({ errors, data, extensions }: TypedResult): string {
  const members: string[] = [];
  if (errors !== undefined) members.push(`"errors":${stringifyJson(errors)}`);
  if (data !== undefined) members.push(`"data":${data === null ? 'null' : writeFields(data)}`);
  if (extensions !== undefined) members.push(`"extensions":${stringifyJson(extensions)}`);
  return `{${members.join(',')}}`;
}

function writeFields(data: Readonly<Record<string, unknown>>): string {
  let text = '';
  // A GraphQL name needs no escaping.
  for (const key in data) text += `${text === '' ? '' : ','}"${key}":${writeField(data[key])}`;
  return `{${text}}`;
}

function writeField(value: unknown): string {
  return value instanceof JsonText ? value.text : stringifyJson(value);
}

/**
 * Encodes a result as JSON within the limit, even if escapes make it longer than `limitResult`
 * estimated.
 */
export function writeBounded(result: TypedResult, requestId: string): string {
  const text = write(result);
  if (text.length <= maxResponseLength) return text;
  return write(withoutExcess(result, requestId, (value) => writeField(value).length));
}

/**
 * Returns the length of a value as JSON, without escapes. Stops soon after reaching `enough`.
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
    for (let index = 0; index < value.length && length < enough; index++) {
      length += 1 + lengthOf(value[index], enough - length);
    }
    return Math.max(2, length);
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    if (length >= enough) break;
    length += key.length + 4 + lengthOf(members[key], enough - length);
  }
  return Math.max(2, length);
}

/** Replaces each root field that does not fit with null and an error. */
export function withoutExcess(
  result: TypedResult,
  requestId: string,
  measure: (value: unknown) => number,
): TypedResult {
  const data: [key: string, value: unknown][] = [];
  const errors = [...(result.errors ?? [])];
  // Half of the response is reserved for errors and extensions.
  let left = maxResponseLength / 2;
  for (const [key, value] of Object.entries(result.data ?? {})) {
    const length = measure(value);
    const fits = length <= left;
    data.push([key, fits ? value : null]);
    if (fits) left -= length;
    else errors.push({ ...responseTooLarge(requestId), path: [key] });
  }
  return { ...result, errors, data: Object.fromEntries(data) };
}

/** Returns the error for omitted data, without a path. */
export function responseTooLarge(requestId: string): TypedError {
  return {
    message: `The response is too large: expected at most ${maxResponseLength} characters. Request fewer fields at a time.`,
    extensions: { code: 'RESPONSE_TOO_LARGE', requestId },
  };
}
