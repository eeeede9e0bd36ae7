import { decodeErrorBody, decodePet, decodePets } from '../contract/decode.ts';
import { parseJson } from '../contract/json.ts';
import type { NewPet, Pet } from '../contract/records.ts';
import type { Reply } from './ask.ts';
import { ContractBreak, type Finding, pass } from './check.ts';

/** The animals of a list. @throws ContractBreak unless they are a 200 with at most `limit` Pets. */
export function expectPets(reply: Reply, limit: number): Pet[] {
  expectStatus(reply, 200);
  const json = readJson(reply);
  const pets = decodePets(json).map((pet, index) => exact(pet, (json as unknown[])[index]));
  if (pets.length > limit) {
    throw new ContractBreak(`expected at most ${inAnimals(limit)}, received ${pets.length}`);
  }
  const twice = pets.find(({ id }, index) => pets.findIndex((pet) => pet.id === id) !== index);
  if (twice) throw new ContractBreak(`the id ${twice.id} is there twice`);
  return pets;
}

/** The animal of an answer. @throws ContractBreak unless it is a Pet with this status. */
export function expectPet(reply: Reply, status: 200 | 201): Pet {
  expectStatus(reply, status);
  const json = readJson(reply);
  return exact(decodePet(json), json);
}

/** @throws ContractBreak when a field of `pet` is not as it was sent. */
export function expectSame(pet: Pet, sent: NewPet | Pet): void {
  for (const [name, value] of Object.entries(sent)) {
    const received = pet[name as keyof Pet];
    if (received !== value) {
      throw new ContractBreak(`${name}: expected ${shown(value)}, received ${shown(received)}`);
    }
  }
}

/** Passes for an error of this status with an Error body that says the same. @throws ContractBreak */
export function expectError(reply: Reply, status: number): Finding {
  expectStatus(reply, status);
  const body = decodeErrorBody(readJson(reply));
  if (body === undefined) {
    throw new ContractBreak(`${status} without code, message and status in its body`);
  }
  if (body.status !== status) {
    throw new ContractBreak(`${status}, but its Error body says ${body.status}`);
  }
  return pass(`${status}, code ${shown(body.code)}`);
}

/** @throws ContractBreak for another status. */
export function expectStatus(reply: Reply, status: number): void {
  if (reply.status === status) return;
  throw new ContractBreak(`expected ${status}, received ${describe(reply)}`);
}

/** An answer in a few words. */
export function describe(reply: Reply): string {
  try {
    const json = readJson(reply);
    const code = decodeErrorBody(json)?.code;
    const what = Array.isArray(json) ? `an array of ${json.length}` : 'JSON';
    return `${reply.status}, ${code === undefined ? what : `code ${shown(code)}`}`;
  } catch (error) {
    return `${reply.status}, ${(error as Error).message}`;
  }
}

/**
 * The JSON of an answer, int64-exact.
 * @throws ContractBreak unless the body is `application/json` in UTF-8, without an encoding.
 */
export function readJson({ headers, body }: Reply): unknown {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw new ContractBreak(`a body encoded as ${shown(encoding)}`);
  const type = headers.get('content-type');
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? '')) {
    throw new ContractBreak(`content-type: expected application/json, received ${shown(type)}`);
  }
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ContractBreak('a body that is not JSON in UTF-8');
  }
}

/** A number of animals in words. */
export function inAnimals(count: number): string {
  return count === 1 ? '1 animal' : `${count} animals`;
}

/** A value of the service's on one line; it may hold anything. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The gateway lets two things pass that the contract does not: a wrong status, and null for none. */
function exact(pet: Pet, json: unknown): Pet {
  if (pet.status instanceof Error) throw pet.status;
  if ((json as Record<string, unknown>)['status'] !== null) return pet;
  throw new ContractBreak('status: expected a status or none, received null');
}
