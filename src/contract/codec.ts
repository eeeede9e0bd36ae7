import type { ErrorBody } from './error.ts';
import { InvalidInputError, InvalidResponseError } from './error.ts';
import { parseInt64 } from './int64.ts';
import { jsonType, stringifyJson } from './json.ts';
import {
  type Int64,
  type Message,
  type NewPet,
  type Pet,
  type PetStatus,
  pageSize,
  petStatuses,
} from './records.ts';

// Fields are copied by name, so that unknown fields, `__proto__` included, are dropped.

const knownStatuses = `one of ${petStatuses.join(', ')}`;

/** Encodes an animal as JSON. Ids are numbers with all their digits. */
export function encodePet(pet: Pet): object {
  return { id: JSON.rawJSON(pet.id), ...encodeNewPet(pet) };
}

/** Encodes the body of `POST /pets`. */
export function encodeNewPet({ name, categoryId, status }: NewPet | Pet): object {
  if (status instanceof Error) throw status;
  return {
    name,
    categoryId: JSON.rawJSON(categoryId),
    ...(status === undefined ? {} : { status }),
  };
}

/** Decodes the body of `POST /pets`. @throws InvalidInputError that names the invalid field. */
export function decodeNewPet(json: unknown): NewPet {
  const { name, categoryId, status } = requestObject(json);
  const id = typeof categoryId === 'string' ? undefined : parseInt64(categoryId);
  if (typeof name !== 'string') throw invalidInput('name', 'a string', name);
  if (id === undefined) {
    throw invalidInput('categoryId', 'an int64 number', categoryId);
  }
  if (status === undefined) return { name, categoryId: id };
  return { name, categoryId: id, status: decodePetStatus(status) };
}

/** Decodes a status that a caller sent. @throws InvalidInputError for an unknown one. */
export function decodePetStatus(value: unknown): PetStatus {
  if (isPetStatus(value)) return value;
  throw invalidInput('status', knownStatuses, value);
}

/** Decodes the body of `POST /messages`. @throws InvalidInputError that names the invalid field. */
export function decodeNewMessage(json: unknown): string {
  const { message } = requestObject(json);
  if (typeof message === 'string') return message;
  throw invalidInput('message', 'a string', message);
}

/**
 * Decodes the response to `GET /pets`.
 * @throws InvalidResponseError that names the first invalid field.
 */
export function decodePets(json: unknown): Pet[] {
  if (!Array.isArray(json)) throw invalidResponse('body', 'an array', json);
  if (json.length > pageSize.maximum) {
    throw new InvalidResponseError(`body: expected at most ${pageSize.maximum} animals.`);
  }
  const pets: Pet[] = [];
  for (let index = 0; index < json.length; index++) pets.push(decodePet(json[index], index));
  return pets;
}

/**
 * Decodes the response to `POST /pets` or `GET /pets/{petId}`, or one animal of a list.
 * @throws InvalidResponseError that names the invalid field.
 */
export function decodePet(json: unknown, index?: number): Pet {
  const at = index === undefined ? '' : `[${index}].`;
  if (!isObject(json)) throw invalidResponse(`${at}body`, 'an object', json);
  const { name, status } = json;
  if (typeof name !== 'string') {
    throw invalidResponse(`${at}name`, 'a string', name);
  }
  const id = decodeId(json['id'], at, 'id');
  const categoryId = decodeId(json['categoryId'], at, 'categoryId');
  if (status === undefined || status === null) return { id, name, categoryId };
  if (isPetStatus(status)) return { id, name, categoryId, status };
  return { id, name, categoryId, status: invalidResponse(`${at}status`, knownStatuses, status) };
}

/**
 * Decodes the response to `POST /messages`.
 * @throws InvalidResponseError that names the invalid field.
 */
export function decodeMessage(json: unknown): Message {
  if (!isObject(json)) throw invalidResponse('body', 'an object', json);
  const { id, message, status, createdAt } = json;
  for (const [name, value] of Object.entries({ id, message, status, createdAt })) {
    if (typeof value !== 'string') {
      throw invalidResponse(name, 'a string', value);
    }
  }
  if (!isTimestamp(createdAt as string)) {
    throw new InvalidResponseError('createdAt: expected an ISO 8601 timestamp.');
  }
  return { id, message, status, createdAt } as Message;
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

/** A date and time in ISO 8601's extended format; seconds, fraction and offset are optional. */
const timestamp =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?$/i;

function isTimestamp(text: string): boolean {
  const date = timestamp.exec(text)?.[1];
  if (date === undefined) return false;
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.valueOf()) && midnight.toISOString().startsWith(date);
}

function decodeId(value: unknown, at: string, name: string): Int64 {
  const id = typeof value === 'string' ? undefined : parseInt64(value);
  if (id === undefined) {
    throw invalidResponse(`${at}${name}`, 'an int64 number', value);
  }
  return id;
}

function requestObject(json: unknown): Record<string, unknown> {
  if (isObject(json)) return json;
  throw invalidInput('body', 'a JSON object', json);
}

function isPetStatus(value: unknown): value is PetStatus {
  return value === 'available' || value === 'pending' || value === 'sold';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The message quotes the start of the value, because the caller sent it. */
function invalidInput(field: string, expected: string, value: unknown): InvalidInputError {
  const text = value === undefined ? 'nothing' : stringifyJson(value);
  const received = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return new InvalidInputError(`${field}: expected ${expected}, received ${received}.`);
}

/** The message contains only the type of the value, because clients must not see backend data. */
function invalidResponse(field: string, expected: string, value: unknown): InvalidResponseError {
  return new InvalidResponseError(`${field}: expected ${expected}, received ${jsonType(value)}.`);
}
