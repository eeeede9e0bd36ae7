import { type ErrorBody, InvalidInputError, InvalidResponseError } from './error.ts';
import { type Field, int64 } from './fields.ts';
import { jsonType, shown } from './json.ts';
import {
  type Message,
  mapPet,
  messageFields,
  type NewPet,
  type Pet,
  type PetStatus,
  pageSize,
  petFields,
} from './records.ts';

// Fields are copied by name, so that unknown fields, `__proto__` included, are dropped.

/** Encodes a pet, or the body of `POST /pets`, as JSON. Ids are numbers with all their digits. */
export function encodePet(pet: Pet | NewPet): object {
  return mapPet<unknown, unknown>(pet, encodeField);
}

function encodeField(value: unknown, { kind }: Field): unknown {
  if (value instanceof Error) throw value;
  return kind === int64 && value !== undefined ? JSON.rawJSON(value as string) : value;
}

/** Decodes the body of `POST /pets`. @throws InvalidInputError that names the invalid field. */
export function decodeNewPet(json: unknown): NewPet {
  const { id, ...pet } = mapPet(requestObject(json), decodeInput);
  return pet as NewPet;
}

/** Decodes a status that a caller sent. @throws InvalidInputError for an unknown one. */
export function decodePetStatus(value: string): PetStatus {
  return decodeInput(value, petFields.status) as PetStatus;
}

function decodeInput(value: unknown, field: Field): unknown {
  // The service assigns the id.
  if (field === petFields.id || (value === undefined && !field.isRequired)) return undefined;
  const { name, kind } = field;
  const parsed = kind.parse(value);
  if (parsed === undefined) throw invalidInput(name, kind.expected, value);
  return parsed;
}

/** Decodes the body of `POST /messages`. @throws InvalidInputError that names the invalid field. */
export function decodeNewMessage(json: unknown): string {
  const { message } = requestObject(json);
  if (typeof message === 'string') return message;
  throw invalidInput('message', 'a string', message);
}

/** Decodes the response to `GET /pets`. @throws InvalidResponseError that names a field. */
export function decodePets(json: unknown): Pet[] {
  if (!Array.isArray(json)) throw invalidResponse('body', 'an array', json);
  if (json.length > pageSize.maximum) {
    throw new InvalidResponseError(`body: expected at most ${pageSize.maximum} pets.`);
  }
  return json.map((one, index) => decodePet(one, index));
}

/** Decodes one pet, alone or of a list. @throws InvalidResponseError that names a field. */
export function decodePet(json: unknown, index?: number): Pet {
  if (!isObject(json)) throw invalidResponse(`${at(index)}body`, 'an object', json);
  return mapPet(json, decodeField, index) as Pet;
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

/** Decodes the response to `POST /messages`. @throws InvalidResponseError that names a field. */
export function decodeMessage(json: unknown): Message {
  if (!isObject(json)) throw invalidResponse('body', 'an object', json);
  const decoded = Object.values(messageFields).map((one) => [
    one.name,
    decodeField(json[one.name], one),
  ]);
  return Object.fromEntries(decoded);
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
  throw invalidInput('body', 'a JSON object', json);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The message quotes the start of the value, because the caller sent it. */
function invalidInput(field: string, expected: string, value: unknown): InvalidInputError {
  return new InvalidInputError(`${field}: expected ${expected}, received ${shown(value)}.`);
}

/** The message contains only the type of the value, because clients must not see backend data. */
function invalidResponse(field: string, expected: string, value: unknown): InvalidResponseError {
  const type = jsonType(value);
  const received = expected.endsWith(type) ? `another ${type}` : type;
  return new InvalidResponseError(`${field}: expected ${expected}, received ${received}.`);
}
