import { getPetRemoval, type Pet, pageSize, petStatuses } from '../contract/records.ts';
import { refusedKeys } from './ask.ts';
import {
  type Check,
  ContractBreak,
  type Finding,
  info,
  pass,
  type Service,
  skip,
} from './check.ts';
import { describe, expectError, expectPet, expectPets, inAnimals, shown } from './expect.ts';

/** What can be seen without a change to the store: GET requests only. */
export const readingChecks: readonly Check[] = [
  ...withoutKey('list', '/pets', () => '/pets'),
  ...withoutKey('get', '/pets/{petId}', ({ animals }) => `/pets/${greatest(animals)?.id ?? 1}`),
  ...withoutKey('orders', '/store/orders', () => '/store/orders'),
  {
    id: 'list',
    rule: `GET /pets: 200 with an array of at most ${pageSize.default} animals`,
    run: listing('/pets', pageSize.default),
  },
  ...[pageSize.minimum, pageSize.maximum].map((limit) => ({
    id: `limit-${limit}`,
    rule: `GET /pets?limit=${limit}: at most ${inAnimals(limit)}`,
    run: listing(`/pets?limit=${limit}`, limit),
  })),
  ...[pageSize.minimum - 1, pageSize.maximum + 1].map((limit) =>
    open(`limit-${limit}`, `/pets?limit=${limit}`),
  ),
  ...petStatuses.map((status) => ({
    id: `filter-${status}`,
    rule: `GET /pets?status=${status}: the animals of this status, and only them`,
    run: (service: Service) => filtering(service, status),
  })),
  open('filter-unknown', '/pets?status=unknown'),
  {
    id: 'get',
    rule: 'GET /pets/{petId}: 200 with the animal of this id, digit for digit',
    async run({ ask, apiKey, animals }) {
      const known = greatest(animals);
      if (known === undefined) return skip('there is no animal to ask for');
      const pet = expectPet(await ask(`/pets/${known.id}`, { apiKey }), 200);
      if (pet.id === known.id) return pass(`200, animal ${pet.id}`);
      throw new ContractBreak(`asked for animal ${known.id}, received animal ${pet.id}`);
    },
  },
  {
    id: 'get-missing',
    rule: 'GET /pets/{petId} of an unknown animal: 404 with an Error body',
    run: (service) => missing(service, '2147483647'),
  },
  {
    id: 'get-int64',
    rule: 'GET /pets/{petId} of 2^63-1, which is unknown too: 404 with an Error body',
    run: (service) => missing(service, '9223372036854775807'),
  },
  {
    id: 'get-deprecation',
    rule: 'GET /pets/{petId}: headers that announce its removal',
    unpublished: true,
    async run({ ask, apiKey, animals }) {
      const { headers } = await ask(`/pets/${greatest(animals)?.id ?? 1}`, { apiKey });
      const sunset = headers.get('sunset');
      const told = ['deprecation', 'sunset', 'link']
        .filter((name) => headers.has(name))
        .map((name) => `${name}: ${shown(headers.get(name))}`);
      const differs = sunset !== null && Date.parse(sunset) !== getPetRemoval.valueOf();
      const date = getPetRemoval.toISOString().slice(0, 10);
      return info(
        (told.join(', ') || 'none') + (differs ? `; the contract's date is ${date}` : ''),
      );
    },
  },
  open('orders', '/store/orders'),
];

/** No key and a wrong one. Of the orders only the scheme is published: an answer must not be given. */
function withoutKey(id: string, shownPath: string, path: (service: Service) => string): Check[] {
  return refusedKeys.map(({ id: suffix, words, question }) => ({
    id: `${id}-${suffix}`,
    rule: `GET ${shownPath} ${words}: 401 with an Error body`,
    async run(service) {
      const reply = await service.ask(path(service), question);
      const isUnpublished = id === 'orders' && reply.status >= 300 && reply.status !== 401;
      return isUnpublished ? info(describe(reply)) : expectError(reply, 401);
    },
  }));
}

function listing(path: string, limit: number) {
  return async ({ ask, apiKey }: Service): Promise<Finding> =>
    pass(`200, ${inAnimals(expectPets(await ask(path, { apiKey }), limit).length)}`);
}

async function filtering(
  { ask, apiKey, animals }: Service,
  status: Pet['status'],
): Promise<Finding> {
  const limit = pageSize.maximum;
  const reply = await ask(`/pets?status=${status}&limit=${limit}`, { apiKey });
  const pets = expectPets(reply, limit);
  const other = pets.find((pet) => pet.status !== status);
  if (other) throw new ContractBreak(`animal ${other.id} has the status ${shown(other.status)}`);
  const ids = new Set(pets.map(({ id }) => id));
  const left = animals.find((pet) => pet.status === status && !ids.has(pet.id));
  // A full page may have left it for the next, of which the contract says nothing.
  if (left === undefined || pets.length === limit) return pass(`200, ${inAnimals(pets.length)}`);
  throw new ContractBreak(`animal ${left.id} has this status and is not among ${pets.length}`);
}

async function missing({ ask, apiKey }: Service, id: string): Promise<Finding> {
  const reply = await ask(`/pets/${id}`, { apiKey });
  if (reply.status !== 200) return expectError(reply, 404);
  const pet = expectPet(reply, 200);
  if (pet.id === id) return skip(`there is an animal ${id}`);
  throw new ContractBreak(`asked for animal ${id}, received animal ${pet.id}`);
}

function open(id: string, path: string): Check {
  return {
    id,
    rule: `GET ${path}`,
    unpublished: true,
    run: async ({ ask, apiKey }) => info(describe(await ask(path, { apiKey }))),
  };
}

/** The id with the most digits is the one that is rounded most easily. */
function greatest(pets: readonly Pet[]): Pet | undefined {
  return pets.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))[0];
}
