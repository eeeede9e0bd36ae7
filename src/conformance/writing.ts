import { encodeNewPet } from '../contract/decode.ts';
import type { NewPet, Pet } from '../contract/records.ts';
import { type Reply, refusedKeys } from './ask.ts';
import { type Check, type Finding, info, pass, type Service } from './check.ts';
import { expectError, expectPet, expectSame } from './expect.ts';

/** Bodies that lack a required field or hold an invalid value. */
const wrongBodies = [
  ['no-name', 'without a name', '{"categoryId":1}'],
  ['no-category', 'without a categoryId', '{"name":"Contract check"}'],
  ['wrong-name', 'with a number for a name', '{"name":1,"categoryId":1}'],
  ['wrong-category', 'with text for a categoryId', '{"name":"Contract check","categoryId":"one"}'],
  ['fraction', 'with a fraction for a categoryId', '{"name":"Contract check","categoryId":1.5}'],
  [
    'beyond-int64',
    'with a categoryId of 2^63',
    '{"name":"Contract check","categoryId":9223372036854775808}',
  ],
  [
    'wrong-status',
    'with an unknown status',
    '{"name":"Contract check","categoryId":1,"status":"unknown"}',
  ],
] as const;

/** What can only be seen by adding: two animals on a service that keeps the contract. */
export const writingChecks: readonly Check[] = [
  ...refusedKeys.map(({ id, words, question }) => ({
    id: `create-${id}`,
    rule: `POST /pets ${words}: 401 with an Error body`,
    run: async ({ ask, animals }: Service) =>
      expectError(await ask('/pets', { ...question, body: bodyOf(plain(animals)) }), 401),
  })),
  ...wrongBodies.map(([id, words, body]) => ({
    id: `create-${id}`,
    rule: `POST /pets ${words}: 400 with an Error body`,
    run: async ({ ask, apiKey }: Service) => expectError(await ask('/pets', { apiKey, body }), 400),
  })),
  {
    id: 'create',
    rule: 'POST /pets: 201 with the animal and its id, and GET finds it',
    run: async (service) => {
      const pet = plain(service.animals);
      return kept(service, pet, await add(service, pet));
    },
  },
  {
    id: 'create-int64',
    rule: 'POST /pets with a categoryId of 2^63-1: 201, every digit and letter kept',
    async run(service) {
      const pet = { name: 'Überprüfung 🐕', categoryId: '9223372036854775807' };
      const reply = await add(service, pet);
      if (reply.status !== 400) return kept(service, pet, reply);
      return info(
        `${expectError(reply, 400).seen}; whether a category must exist is not published`,
      );
    },
  },
];

function add({ ask, apiKey }: Service, pet: NewPet): Promise<Reply> {
  return ask('/pets', { apiKey, body: bodyOf(pet) });
}

async function kept({ ask, apiKey }: Service, sent: NewPet, reply: Reply): Promise<Finding> {
  const added = expectPet(reply, 201);
  expectSame(added, sent);
  expectSame(expectPet(await ask(`/pets/${added.id}`, { apiKey }), 200), added);
  return pass(`201, animal ${added.id}`);
}

/** An animal of a category that is known to exist, if one is. */
function plain(animals: readonly Pet[]): NewPet {
  return {
    name: 'Contract check',
    categoryId: animals[0]?.categoryId ?? '1',
    status: 'available',
  };
}

function bodyOf(pet: NewPet): string {
  return JSON.stringify(encodeNewPet(pet));
}
