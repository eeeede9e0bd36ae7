import { type Check, type CheckedService, type Finding, info } from '../../conformance/check.ts';
import {
  describe,
  expectError,
  expectSame,
  readResponseJson,
  requireThat,
} from '../../conformance/expect.ts';
import type { ServiceResponse } from '../../conformance/http-client.ts';
import { decodeRecord, encodeRecord } from '../../contract/codec.ts';
import type { Field } from '../../contract/fields.ts';
import { shown } from '../../contract/json.ts';
import { message, type NewPet, pet } from '../records.ts';
import { check, expectPet, type Pets, refusing, withoutKey } from './check.ts';

/** Checks bodies without a required field or with an invalid value, for each field. */
const invalidBodies = Object.values<Field>(pet.fields).flatMap(({ name, kind, isRequired }) => {
  if (name === 'id') return [];
  const refused = (id: string, description: string, json?: string) => {
    const value = json === undefined ? undefined : JSON.rawJSON(json);
    const body = JSON.stringify({ ...encodeRecord(pet, validPet([])), [name]: value });
    const what = `${description} ${name}`;
    return refusing(`create-${id}-${name}`, 'createPet', what, 400, () => ({ body }));
  };
  const wrong = kind.invalid.map(([id, text, json]) => refused(id, `with ${text} as`, json));
  return isRequired ? [refused('no', 'without'), ...wrong] : wrong;
});

const text = 'Contract check';
const sent = { body: JSON.stringify({ message: text }) };

/** The checks that send POST requests; a service that passes has two more pets and a message. */
export const writingChecks: readonly Check<Pets>[] = [
  ...withoutKey('create', 'createPet', ({ known: pets }) => ({ body: bodyOf(validPet(pets)) })),
  ...invalidBodies,
  check('create', 'createPet', ': 201 with the pet and its id, and GET returns it', (service) =>
    addAndGet(service, validPet(service.known)),
  ),
  check(
    'create-int64',
    'createPet',
    ' with a categoryId of 2^63-1: 201, digits and Unicode text preserved',
    (service) => addAndGet(service, { name: 'Überprüfung 🐕', categoryId: '9223372036854775807' }),
  ),
  ...withoutKey('message', 'sendMessage', () => sent),
  refusing('message-no-message', 'sendMessage', 'without a message', 400, () => ({ body: '{}' })),
  refusing('message-no-json', 'sendMessage', 'with a body that is not JSON', 400, () => ({
    body: '{',
  })),
  refusing('message-no-type', 'sendMessage', 'without a content type', 400, () => ({
    ...sent,
    contentType: null,
  })),
  check(
    'message',
    'sendMessage',
    ': success with the message, its id, status and timestamp',
    async ({ send }) => expectMessage(await send('sendMessage', sent)),
  ),
];

async function addAndGet(
  { send, known: pets }: CheckedService<Pets>,
  newPet: NewPet,
): Promise<string | Finding> {
  const response = await send('createPet', { body: bodyOf(newPet) });
  if (response.status === 400 && newPet.categoryId !== validPet(pets).categoryId) {
    const seen = expectError(response, 400);
    return info(`${seen}; the contract does not specify whether the category must exist`);
  }
  const added = expectPet(response, 201);
  expectSame<(typeof pet)['fields']>(added, newPet);
  expectSame<(typeof pet)['fields']>(
    expectPet(await send('getPet', { parameters: { petId: added.id } }), 200),
    added,
  );
  return `201, pet ${added.id}`;
}

/** Returns a valid pet with all fields, in a category that exists if one is known. */
export function validPet(pets: Pets): Required<NewPet> {
  const { id, ...example } = pet.map<unknown, unknown>({}, (_, { kind }) => kind.example);
  const categoryId = pets[0]?.categoryId ?? '1';
  return { ...example, categoryId } as Required<NewPet>;
}

/** Returns the body of `POST /pets`. */
export function bodyOf(newPet: NewPet): string {
  return JSON.stringify(encodeRecord(pet, newPet));
}

function expectMessage(response: ServiceResponse): string {
  requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
  const received = decodeRecord(message, readResponseJson(response));
  const problem = `message: expected ${shown(text)}, received ${shown(received.message)}`;
  requireThat(received.message === text, problem);
  return `${response.status}, status ${shown(received.status)}`;
}
