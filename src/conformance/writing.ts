import { encodePet } from '../contract/codec.ts';
import type { NewPet, Pet } from '../contract/records.ts';
import { type Check, type Finding, info, pass, type Service } from './check.ts';
import { expectError, expectPet, expectSame } from './expect.ts';
import { type ServiceResponse, unauthenticatedRequests } from './http-client.ts';

/** The start of a body, as text because JavaScript would round a category. */
const named = '{"name":"Contract check","categoryId":';

/** Bodies without a required field or with an invalid value, for each field. */
const invalidBodies: Readonly<Record<keyof NewPet, [id: string, what: string, body: string][]>> = {
  name: [
    ['no-name', 'without a name', '{"categoryId":1}'],
    ['wrong-name', 'with a number as the name', '{"name":1,"categoryId":1}'],
  ],
  categoryId: [
    ['no-category', 'without a categoryId', '{"name":"Contract check"}'],
    ['wrong-category', 'with text as the categoryId', `${named}"one"}`],
    ['fraction', 'with a fraction as the categoryId', `${named}1.5}`],
    ['beyond-int64', 'with a categoryId of 2^63', `${named}9223372036854775808}`],
  ],
  status: [['wrong-status', 'with an unknown status', `${named}1,"status":"unknown"}`]],
};

/** The checks that send POST requests; they add two animals to a service that follows the contract. */
export const writingChecks: readonly Check[] = [
  ...unauthenticatedRequests.map(({ id, description, request }) => ({
    id: `create-${id}`,
    rule: `POST /pets ${description}: 401 with an Error body`,
    run: async ({ send, animals }: Service) =>
      expectError(await send('/pets', { ...request, body: bodyOf(validPet(animals)) }), 401),
  })),
  ...Object.values(invalidBodies)
    .flat()
    .map(([id, description, body]) => ({
      id: `create-${id}`,
      rule: `POST /pets ${description}: 400 with an Error body`,
      run: async ({ send, apiKey }: Service) =>
        expectError(await send('/pets', { apiKey, body }), 400),
    })),
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
      return info(
        `${expectError(response, 400).seen}; the contract does not specify whether the category must exist`,
      );
    },
  },
];

function add({ send, apiKey }: Service, pet: NewPet): Promise<ServiceResponse> {
  return send('/pets', { apiKey, body: bodyOf(pet) });
}

async function expectStored(
  { send, apiKey }: Service,
  sent: NewPet,
  response: ServiceResponse,
): Promise<Finding> {
  const added = expectPet(response, 201);
  expectSame(added, sent);
  expectSame(expectPet(await send(`/pets/${added.id}`, { apiKey }), 200), added);
  return pass(`201, animal ${added.id}`);
}

/** Returns a valid animal with all fields, in a category that exists if one is known. */
function validPet(animals: readonly Pet[]): Required<NewPet> {
  return {
    name: 'Contract check',
    categoryId: animals[0]?.categoryId ?? '1',
    status: 'available',
  };
}

function bodyOf(pet: NewPet): string {
  return JSON.stringify(encodePet(pet));
}
