import { decodeMessage, encodePet } from '../contract/codec.ts';
import { shown } from '../contract/json.ts';
import { mapPet, type NewPet, type Pet, petFields } from '../contract/records.ts';
import {
  type Check,
  type CheckedService,
  check,
  type Finding,
  info,
  requireThat,
} from './check.ts';
import { describe, expectError, expectPet, expectSame, readResponseJson } from './expect.ts';
import type { ServiceResponse } from './http-client.ts';
import { refusing, withoutKey } from './refusing.ts';

/** Checks bodies without a required field or with an invalid value, for each field. */
const invalidBodies = Object.values(petFields).flatMap(({ name, kind, isRequired }) => {
  if (name === 'id') return [];
  const refused = (id: string, description: string, json?: string) => {
    const value = json === undefined ? undefined : JSON.rawJSON(json);
    const body = JSON.stringify({ ...encodePet(validPet([])), [name]: value });
    const what = `${description} ${name}`;
    return refusing(`create-${id}-${name}`, 'createPet', what, 400, () => ({ body }));
  };
  const wrong = kind.invalid.map(([id, text, json]) => refused(id, `with ${text} as`, json));
  return isRequired ? [refused('no', 'without'), ...wrong] : wrong;
});

const text = 'Contract check';
const message = { body: JSON.stringify({ message: text }) };

/** The checks that send POST requests; a service that passes has two more pets and a message. */
export const writingChecks: readonly Check[] = [
  ...withoutKey('create', 'createPet', ({ pets }) => ({ body: bodyOf(validPet(pets)) })),
  ...invalidBodies,
  check('create', 'createPet', ': 201 with the pet and its id, and GET returns it', (service) =>
    addAndGet(service, validPet(service.pets)),
  ),
  check(
    'create-int64',
    'createPet',
    ' with a categoryId of 2^63-1: 201, digits and Unicode text preserved',
    (service) => addAndGet(service, { name: 'Überprüfung 🐕', categoryId: '9223372036854775807' }),
  ),
  ...withoutKey('message', 'sendMessage', () => message),
  refusing('message-no-message', 'sendMessage', 'without a message', 400, () => ({ body: '{}' })),
  refusing('message-no-json', 'sendMessage', 'with a body that is not JSON', 400, () => ({
    body: '{',
  })),
  refusing('message-no-type', 'sendMessage', 'without a content type', 400, () => ({
    ...message,
    contentType: null,
  })),
  check(
    'message',
    'sendMessage',
    ': success with the message, its id, status and timestamp',
    async ({ send }) => expectMessage(await send('sendMessage', message)),
  ),
];

async function addAndGet({ send, pets }: CheckedService, pet: NewPet): Promise<string | Finding> {
  const response = await send('createPet', { body: bodyOf(pet) });
  if (response.status === 400 && pet.categoryId !== validPet(pets).categoryId) {
    const seen = expectError(response, 400);
    return info(`${seen}; the contract does not specify whether the category must exist`);
  }
  const added = expectPet(response, 201);
  expectSame(added, pet);
  expectSame(expectPet(await send('getPet', { parameter: added.id }), 200), added);
  return `201, pet ${added.id}`;
}

/** Returns a valid pet with all fields, in a category that exists if one is known. */
export function validPet(pets: readonly Pet[]): Required<NewPet> {
  const { id, ...pet } = mapPet<unknown, unknown>({}, (_, { kind }) => kind.example);
  const categoryId = pets[0]?.categoryId ?? '1';
  return { ...pet, categoryId } as Required<NewPet>;
}

/** Returns the body of `POST /pets`. */
export function bodyOf(pet: NewPet): string {
  return JSON.stringify(encodePet(pet));
}

function expectMessage(response: ServiceResponse): string {
  requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
  const received = decodeMessage(readResponseJson(response));
  const problem = `message: expected ${shown(text)}, received ${shown(received.message)}`;
  requireThat(received.message === text, problem);
  return `${response.status}, status ${shown(received.status)}`;
}
