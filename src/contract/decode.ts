import type { ErrorBody } from './error.ts';
import { InvalidInputError, InvalidResponseError } from './error.ts';
import { parseInt64 } from './int64.ts';
import { isNestedBeyond, stringifyJson } from './json.ts';
import {
  type Int64,
  type Message,
  type NewPet,
  type Pet,
  type PetStatus,
  pageSize,
  petStatuses,
} from './records.ts';

// Named fields are copied one by one: whatever else a JSON object carries, `__proto__` included,
// goes no further.

const oneStatus = `one of ${petStatuses.join(', ')}`;

/** An animal as JSON, ids written as numbers with all their digits. */
export function encodePet(pet: Pet): object {
  return { id: JSON.rawJSON(pet.id), ...encodeNewPet(pet) };
}

/** The body of `POST /pets`. */
export function encodeNewPet({ name, categoryId, status }: NewPet | Pet): object {
  if (status instanceof Error) throw status;
  return {
    name,
    categoryId: JSON.rawJSON(categoryId),
    ...(status === undefined ? {} : { status }),
  };
}

/** The body of `POST /pets`, checked. @throws InvalidInputError naming the field. */
export function decodeNewPet(json: unknown): NewPet {
  const { name, categoryId, status } = requestObject(json);
  const id = typeof categoryId === 'string' ? undefined : parseInt64(categoryId);
  if (typeof name !== 'string') throw refused('name', 'a string', name);
  if (id === undefined) {
    throw refused('categoryId', 'an int64 number', categoryId);
  }
  if (status === undefined) return { name, categoryId: id };
  return { name, categoryId: id, status: decodePetStatus(status) };
}

/** A status that a caller sent. @throws InvalidInputError for anything but the three. */
export function decodePetStatus(value: unknown): PetStatus {
  if (isPetStatus(value)) return value;
  throw refused('status', oneStatus, value);
}

/** The body of `POST /messages`, checked. @throws InvalidInputError naming the field. */
export function decodeNewMessage(json: unknown): string {
  const { message } = requestObject(json);
  if (typeof message === 'string') return message;
  throw refused('message', 'a string', message);
}

/** The answer of `GET /pets`. @throws InvalidResponseError naming the first broken field. */
export function decodePets(json: unknown): Pet[] {
  if (!Array.isArray(json)) throw broken('body', 'an array', json);
  if (json.length > pageSize.maximum) {
    throw new InvalidResponseError(`body: expected at most ${pageSize.maximum} animals.`);
  }
  const pets: Pet[] = [];
  for (let index = 0; index < json.length; index++) pets.push(decodePet(json[index], index));
  return pets;
}

/** The answer of `POST /pets` and `GET /pets/{petId}`. @throws InvalidResponseError */
export function decodePet(json: unknown, index?: number): Pet {
  const at = index === undefined ? '' : `[${index}].`;
  if (!isObject(json)) throw broken(`${at}body`, 'an object', json);
  const { name, status } = json;
  if (typeof name !== 'string') {
    throw broken(`${at}name`, 'a string', name);
  }
  const id = decodeId(json['id'], at, 'id');
  const categoryId = decodeId(json['categoryId'], at, 'categoryId');
  if (status === undefined || status === null) return { id, name, categoryId };
  if (isPetStatus(status)) return { id, name, categoryId, status };
  return { id, name, categoryId, status: broken(`${at}status`, oneStatus, status) };
}

/** The answer of `GET /store/orders`: anything that can be written again. @throws InvalidResponseError */
export function decodeOrders(json: unknown): unknown {
  if (!isNestedBeyond(maxOrdersDepth, json)) return json;
  throw new InvalidResponseError(`body: expected at most ${maxOrdersDepth} levels of nesting.`);
}

const maxOrdersDepth = 500;

/** The answer of `POST /messages`. @throws InvalidResponseError naming the broken field. */
export function decodeMessage(json: unknown): Message {
  if (!isObject(json)) throw broken('body', 'an object', json);
  const { id, message, status, createdAt } = json;
  for (const [name, value] of Object.entries({ id, message, status, createdAt })) {
    if (typeof value !== 'string') {
      throw broken(name, 'a string', value);
    }
  }
  if (!isTimestamp(createdAt as string)) {
    throw new InvalidResponseError('createdAt: expected an ISO 8601 timestamp.');
  }
  return { id, message, status, createdAt } as Message;
}

/** An Error body, or undefined when the JSON is something else. */
export function decodeErrorBody(json: unknown): ErrorBody | undefined {
  if (!isObject(json)) return undefined;
  const { code, message, status } = json;
  if (typeof code !== 'string' || typeof message !== 'string' || !Number.isInteger(status)) {
    return undefined;
  }
  return { code, message, status: status as number };
}

/** A date and a time of day in ISO 8601's extended format; fraction and offset are optional. */
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
    throw broken(`${at}${name}`, 'an int64 number', value);
  }
  return id;
}

function requestObject(json: unknown): Record<string, unknown> {
  if (isObject(json)) return json;
  throw refused('body', 'a JSON object', json);
}

function isPetStatus(value: unknown): value is PetStatus {
  return value === 'available' || value === 'pending' || value === 'sold';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A caller may see its own value again, shortened. */
function refused(field: string, what: string, value: unknown): InvalidInputError {
  const text = value === undefined ? 'nothing' : stringifyJson(value);
  const received = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return new InvalidInputError(`${field}: expected ${what}, received ${received}.`);
}

/** Of a backend's value only the kind is told: it may hold what is not for the caller's eyes. */
function broken(field: string, what: string, value: unknown): InvalidResponseError {
  return new InvalidResponseError(`${field}: expected ${what}, received ${kindOf(value)}.`);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
