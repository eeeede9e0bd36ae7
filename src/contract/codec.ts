import { type ErrorBody, InvalidInputError, InvalidResponseError } from './error.ts';
import { type Argument, type Expectation, type Field, int64 } from './fields.ts';
import { jsonType, shown } from './json.ts';
import type { List, Member } from './operation.ts';
import type { Fields, NewRecordOf, RecordOf, RecordType } from './record.ts';

// Fields are copied by name, so that unknown fields, `__proto__` included, are dropped.

/** Encodes a record, or a new one, as JSON. Integers are numbers with all their digits. */
export function encodeRecord<Of extends Fields>(
  type: RecordType<Of>,
  record: RecordOf<Of> | NewRecordOf<Of>,
): object {
  return type.map<unknown, unknown>(record as object, encodeField);
}

/** Encodes the one value of a body. */
export function encodeMember({ member, kind }: Member, value: unknown): object {
  return { [member]: encodeField(value, { kind }) };
}

function encodeField(value: unknown, { kind }: { readonly kind: Argument }): unknown {
  if (value instanceof Error) throw value;
  return kind === int64 && value !== undefined ? JSON.rawJSON(value as string) : value;
}

/** Decodes a record that a caller sent. @throws InvalidInputError that names the invalid field. */
export function decodeNewRecord<Of extends Fields>(
  type: RecordType<Of>,
  json: unknown,
): NewRecordOf<Of> {
  return type.map<unknown, unknown>(requestObject(json) as object, decodeInput) as NewRecordOf<Of>;
}

function decodeInput(value: unknown, field: Field): unknown {
  if (field.isAssigned || (value === undefined && !field.isRequired)) return undefined;
  return parseInput(field.name, field.kind, value);
}

/** Decodes the one value of a body. @throws InvalidInputError that names the invalid member. */
export function decodeNewMember<T>({ member, kind }: Member<T>, json: unknown): T {
  return parseInput(member, kind, requestObject(json)[member]);
}

/** Parses the text of a parameter in a URL. @throws InvalidInputError that names it, and what was received. */
export function parseUrlText<T>(
  name: string,
  { inUrl, ...kind }: Argument<T>,
  text: string | undefined,
  received = text,
): T {
  return parseInput(name, inUrl ?? kind, text, received);
}

function parseInput<T>(
  name: string,
  { expected, parse }: Expectation<T>,
  value: unknown,
  received = value,
): T {
  const parsed = parse(value);
  if (parsed !== undefined) return parsed;
  // It quotes the start of the value, because the caller sent it.
  throw new InvalidInputError(`${name}: expected ${expected}, received ${shown(received)}.`);
}

/** Decodes a list of records. @throws InvalidResponseError that names a field. */
export function decodeList<Of extends Fields>(
  { listOf, maximum }: List<Of>,
  json: unknown,
): RecordOf<Of>[] {
  if (!Array.isArray(json)) throw invalidResponse('body', 'an array', json);
  if (json.length > maximum) {
    throw new InvalidResponseError(`body: expected at most ${maximum} ${listOf.plural}.`);
  }
  return json.map((one, index) => decodeRecord(listOf, one, index));
}

/** Decodes one record, alone or of a list. @throws InvalidResponseError that names a field. */
export function decodeRecord<Of extends Fields>(
  type: RecordType<Of>,
  json: unknown,
  index?: number,
): RecordOf<Of> {
  if (!isObject(json)) throw invalidResponse(`${at(index)}body`, 'an object', json);
  return type.map<unknown, unknown>(json as object, decodeField, index) as RecordOf<Of>;
}

function decodeField(value: unknown, { name, kind, isRequired }: Field, index?: number): unknown {
  if (!isRequired && (value === undefined || value === null)) return undefined;
  const parsed = kind.parse(value);
  if (parsed !== undefined) return parsed;
  const error = invalidResponse(`${at(index)}${name}`, kind.expected, value);
  if (isRequired) throw error;
  return error;
}

function at(index: number | undefined): string {
  return index === undefined ? '' : `[${index}].`;
}

/** Decodes the one value of a response. @throws InvalidResponseError that names the member. */
export function decodeMember<T>({ member, kind }: Member<T>, json: unknown): T {
  if (!isObject(json)) throw invalidResponse('body', 'an object', json);
  const parsed = kind.parse(json[member]);
  if (parsed === undefined) throw invalidResponse(member, kind.expected, json[member]);
  return parsed;
}

/** Decodes an Error body; returns undefined for any other JSON. */
export function decodeErrorBody(json: unknown): ErrorBody | undefined {
  if (!isObject(json)) return undefined;
  const { code, message, status } = json;
  if (typeof code !== 'string' || typeof message !== 'string' || !Number.isInteger(status)) {
    return undefined;
  }
  return { code, message, status: status as number };
}

function requestObject(json: unknown): Record<string, unknown> {
  if (isObject(json)) return json;
  throw new InvalidInputError(`body: expected a JSON object, received ${shown(json)}.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The message contains only the type of the value, because clients must not see backend data. */
function invalidResponse(field: string, expected: string, value: unknown): InvalidResponseError {
  const type = jsonType(value);
  const received = expected.endsWith(type) ? `another ${type}` : type;
  return new InvalidResponseError(`${field}: expected ${expected}, received ${received}.`);
}
