import type { GraphQLError } from 'graphql';
import { withOutcome } from '../contract/error.ts';
import { JsonText, stringifyJson } from '../contract/json.ts';
import { type FailedRequest, typedError } from '../graphql/errors.ts';
import type { TypedError } from '../graphql/result-types.ts';
import { nextTurn, turnBytes } from '../limits/turns.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';

/** A result, without `data` if nothing was executed; as the client receives it if its errors are typed. */
export interface Result<Failure> {
  readonly errors?: readonly Failure[];
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export type TypedResult = Result<TypedError>;

/** A whole result as JSON text. It has `data` if the operation was executed. */
export type EncodedResult = Awaited<ReturnType<typeof encodeResult>>;

/** The most characters of the data of a response, and of its errors without escapes. */
export const maxDataLength = 8 * 1024 * 1024;
const maxErrorsLength = 1024 * 1024;

/**
 * Types the errors of a result and writes it as JSON. A large one waits for a turn, also after a deadline,
 * because the fields that were in time have their data, and is limited as `writeBounded` does.
 */
export function encodeResult(result: Result<GraphQLError>, request: GatewayRequest) {
  const typed: TypedResult = typeErrors(result, request);
  const isExecuted = 'data' in typed;
  if (lengthOf(typed, turnBytes) <= turnBytes) return { body: write(typed), isExecuted };
  return nextTurn({ key: request.scope.key }).then(() => ({
    body: writeBounded(typed, request),
    isExecuted,
  }));
}

/**
 * Writes a result. Root fields beyond the limit become null, each with an error, and too many errors
 * are replaced with one.
 */
export function writeBounded(
  { errors, data, extensions }: TypedResult,
  request: GatewayRequest,
): string {
  let reported = errors;
  if (errors && lengthOf(errors, maxErrorsLength) > maxErrorsLength) {
    reported = [responseTooLarge(request, 'UNKNOWN')];
    request.report.codes = ['RESPONSE_TOO_LARGE'];
  }
  // What is left if every field is null.
  let left = maxDataLength;
  for (const name in data) left -= name.length + '"":null,'.length;

  function writeField(value: unknown, name: string): string {
    const space = left + 'null'.length;
    // Measured first: V8 fails to write a value that is far too large.
    const text = lengthOf(value, space) > space ? undefined : stringifyJson(value);
    if (text !== undefined && text.length <= space) {
      left = space - text.length;
      return text;
    }
    reported = [...(reported ?? []), { ...responseTooLarge(request), path: [name] }];
    request.report.codes.push('RESPONSE_TOO_LARGE');
    return 'null';
  }

  const fields = data && new JsonText(write(data, writeField));
  return write({ errors: reported, data: fields, extensions }, stringifyJson);
}

/**
 * Gives each error of a result, or of an entry of a part, its code and the request's id, and reports
 * the codes. All errors pass through here last, so no unexpected error reaches the client unmasked.
 */
export function typeErrors<Entry extends { readonly errors?: readonly GraphQLError[] }>(
  entry: Entry,
  request: GatewayRequest,
) {
  if (entry.errors === undefined) return entry as Omit<Entry, 'errors'>;
  const { errors, ...rest } = entry;
  const typed = errors.map((error) => typedError(error, request));
  for (const { extensions } of typed) request.report.codes.push(extensions.code);
  return { errors: typed, ...rest };
}

/**
 * Writes a result or a part of one, of any length, or other members, whose names are GraphQL's and need no
 * escapes. Root fields that are JSON text are copied.
 */
export function write(members: object, writeValue = writeMember): string {
  const values = members as Readonly<Record<string, unknown>>;
  let text = '';
  for (const name in values) {
    if (values[name] === undefined) continue;
    text += `${text === '' ? '' : ','}"${name}":${writeValue(values[name], name)}`;
  }
  return `{${text}}`;
}

function writeMember(value: unknown, name: string): string {
  if (!value || (name !== 'data' && name !== 'incremental')) return stringifyJson(value);
  if (name === 'data') return write(value, stringifyJson);
  return `[${(value as readonly object[]).map((one) => write(one)).join()}]`;
}

/** Returns the length of a value as JSON, without escapes. Stops soon after exceeding `enough`. */
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
  for (const name in members) {
    if (length > enough) break;
    length += name.length + 4 + lengthOf(members[name], enough - length);
  }
  return Math.max(2, length);
}

/**
 * Returns the error for what is omitted, without a path.
 * @param outcome that of a mutation: writes whose data is omitted are done, those with an error may be
 */
export function responseTooLarge(
  { scope: { requestId }, report: { isMutation } }: Pick<FailedRequest, 'scope' | 'report'>,
  outcome: 'DONE' | 'UNKNOWN' = 'DONE',
): TypedError {
  const message = `The response is too large: expected at most ${maxDataLength} characters. Request fewer fields at a time.`;
  return {
    message: withOutcome(message, isMutation && outcome),
    extensions: { code: 'RESPONSE_TOO_LARGE', ...(isMutation && { outcome }), requestId },
  };
}
