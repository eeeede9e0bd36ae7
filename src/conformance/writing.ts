import { encodePet } from '../contract/codec.ts';
import { mapPet, type NewPet, type Pet, petFields } from '../contract/records.ts';
import { type Check, info, type Service } from './check.ts';
import { expectError, expectPet, expectSame } from './expect.ts';
import { type ServiceResponse, unauthenticatedRequests } from './http-client.ts';

/** Checks bodies without a required field or with an invalid value, for each field. */
const invalidBodies = Object.values(petFields).flatMap(({ name, kind, isRequired }) => {
  if (name === 'id') return [];
  const refused = (id: string, description: string, json?: string): Check => {
    const value = json === undefined ? undefined : JSON.rawJSON(json);
    const body = JSON.stringify({ ...encodePet(validPet([])), [name]: value });
    return {
      id: `create-${id}-${name}`,
      rule: `POST /pets ${description} ${name}: 400 with an Error body`,
      run: async ({ send }) => expectError(await send('/pets', { body }), 400),
    };
  };
  const wrong = kind.invalid.map(([id, text, json]) => refused(id, `with ${text} as`, json));
  return isRequired ? [refused('no', 'without'), ...wrong] : wrong;
});

/** The checks that send POST requests; they add two animals to a service that follows the contract. */
export const writingChecks: readonly Check[] = [
  ...unauthenticatedRequests.map(({ id, description, request }) => ({
    id: `create-${id}`,
    rule: `POST /pets ${description}: 401 with an Error body`,
    run: async ({ send, animals }: Service) =>
      expectError(await send('/pets', { ...request, body: bodyOf(validPet(animals)) }), 401),
  })),
  ...invalidBodies,
  {
    id: 'create',
    rule: 'POST /pets: 201 with the animal and its id, and GET returns it',
    run: async (service) => {
      const pet = validPet(service.animals);
      return expectStored(service, pet, await add(service, pet));
    },
  },
  {
    id: 'create-int64',
    rule: 'POST /pets with a categoryId of 2^63-1: 201, digits and Unicode text preserved',
    async run(service) {
      const pet = { name: 'Überprüfung 🐕', categoryId: '9223372036854775807' };
      const response = await add(service, pet);
      if (response.status !== 400) return expectStored(service, pet, response);
      const seen = expectError(response, 400);
      return info(`${seen}; the contract does not specify whether the category must exist`);
    },
  },
];

function add({ send }: Service, pet: NewPet): Promise<ServiceResponse> {
  return send('/pets', { body: bodyOf(pet) });
}

async function expectStored(
  { send }: Service,
  sent: NewPet,
  response: ServiceResponse,
): Promise<string> {
  const added = expectPet(response, 201);
  expectSame(added, sent);
  expectSame(expectPet(await send(`/pets/${added.id}`), 200), added);
  return `201, animal ${added.id}`;
}

/** Returns a valid animal with all fields, in a category that exists if one is known. */
function validPet(animals: readonly Pet[]): Required<NewPet> {
  const { id, ...pet } = mapPet<unknown, unknown>({}, (_, { kind }) => kind.example);
  const categoryId = animals[0]?.categoryId ?? '1';
  return { ...pet, categoryId } as Required<NewPet>;
}

function bodyOf(pet: NewPet): string {
  return JSON.stringify(encodePet(pet));
}
