import { decodeErrorBody, decodePet, decodePets } from '../contract/codec.ts';
import { InvalidResponseError } from '../contract/error.ts';
import { decodeUtf8, parseJson, shown } from '../contract/json.ts';
import { type NewPet, type Pet, type PetField, petFields } from '../contract/records.ts';
import { requireThat } from './check.ts';
import type { ServiceResponse } from './http-client.ts';

/** Returns the pets of a list. @throws InvalidResponseError unless it is a 200 with at most `limit` Pets. */
export function expectPets(response: ServiceResponse, limit: number): Pet[] {
  expectStatus(response, 200);
  const json = readResponseJson(response);
  const pets = decodePets(json).map((pet, index) => exact(pet, (json as unknown[])[index]));
  requireThat(
    pets.length <= limit,
    `expected at most ${formatPets(limit)}, received ${pets.length}`,
  );
  const duplicate = pets.find(({ id }, index) => pets.findIndex((pet) => pet.id === id) !== index);
  requireThat(!duplicate, `the id ${duplicate?.id} appears twice`);
  return pets;
}

/** Returns the pet of a response. @throws InvalidResponseError unless it is a Pet with this status. */
export function expectPet(response: ServiceResponse, status: 200 | 201): Pet {
  expectStatus(response, status);
  const json = readResponseJson(response);
  return exact(decodePet(json), json);
}

/** Compares a pet with the one that was sent. @throws InvalidResponseError if a field differs. */
export function expectSame(pet: Pet, sent: NewPet | Pet): void {
  for (const [name, value] of Object.entries(sent)) {
    const received = pet[name as keyof Pet];
    const problem = `${name}: expected ${shown(value)}, received ${shown(received)}`;
    requireThat(received === value, problem);
  }
}

/** Describes an error. @throws InvalidResponseError unless it and its Error body have this status. */
export function expectError(response: ServiceResponse, status: number): string {
  expectStatus(response, status);
  const body = decodeErrorBody(readResponseJson(response));
  requireThat(body !== undefined, 'expected an Error body with code, message and status');
  const problem = `status in the Error body: expected ${status}, received ${body.status}`;
  requireThat(body.status === status, problem);
  return `${status}, code ${shown(body.code)}`;
}

/** Checks the HTTP status. @throws InvalidResponseError for another one. */
export function expectStatus(response: ServiceResponse, status: number): void {
  requireThat(response.status === status, `expected ${status}, received ${describe(response)}`);
}

/** Summarizes a response on one line. */
export function describe(response: ServiceResponse): string {
  try {
    const json = readResponseJson(response);
    const code = decodeErrorBody(json)?.code;
    const what = Array.isArray(json) ? `an array of ${json.length}` : 'JSON';
    return `${response.status}, ${code === undefined ? what : `code ${shown(code)}`}`;
  } catch (error) {
    return `${response.status}, ${(error as Error).message}`;
  }
}

/** Parses a body. @throws InvalidResponseError unless it is JSON in UTF-8 without an encoding. */
export function readResponseJson({ headers, body }: ServiceResponse): unknown {
  const encoding = headers['content-encoding'] ?? '';
  const encoded = `content-encoding: expected none, received ${shown(encoding)}`;
  requireThat(/^(?:identity|[\s,])*$/i.test(encoding), encoded);
  const type = headers['content-type'];
  requireThat(
    /^application\/json\s*(?:;|$)/i.test(type ?? ''),
    `content-type: expected application/json, received ${shown(type)}`,
  );
  try {
    return parseJson(decodeUtf8(body));
  } catch {
    throw new InvalidResponseError('body: expected valid JSON in UTF-8');
  }
}

/** Formats a number of pets. */
export function formatPets(count: number): string {
  return count === 1 ? '1 pet' : `${count} pets`;
}

/** Rejects what the decoder tolerates in optional fields: an invalid value, and `null` for none. */
function exact(pet: Pet, json: unknown): Pet {
  for (const name of Object.keys(petFields) as PetField[]) {
    const value = pet[name];
    if (value instanceof Error) throw value;
    const isNull = (json as Record<string, unknown>)[name] === null;
    requireThat(!isNull, `${name}: expected a value or none, received null`);
  }
  return pet;
}
