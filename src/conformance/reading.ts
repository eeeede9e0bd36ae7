import { getPetRemoval, type Pet, pageSize, petStatuses } from '../contract/records.ts';
import { type Check, info, requireThat, type Service, skip } from './check.ts';
import { describe, expectError, expectPet, expectPets, formatAnimals, shown } from './expect.ts';
import { unauthenticatedRequests } from './http-client.ts';

/** The checks that only send GET requests. */
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
    rule: `GET /pets?limit=${limit}: at most ${formatAnimals(limit)}`,
    run: listing(`/pets?limit=${limit}`, limit),
  })),
  ...[pageSize.minimum - 1, pageSize.maximum + 1].map((limit) =>
    unspecified(`limit-${limit}`, `/pets?limit=${limit}`),
  ),
  ...petStatuses.map((status) => ({
    id: `filter-${status}`,
    rule: `GET /pets?status=${status}: all animals of this status, and no others`,
    run: (service: Service) => filtering(service, status),
  })),
  unspecified('filter-unknown', '/pets?status=unknown'),
  {
    id: 'get',
    rule: 'GET /pets/{petId}: 200 with the animal of this id, every digit exact',
    async run({ send, animals }) {
      const known = greatest(animals);
      if (known === undefined) return skip('the list has no animal');
      expectId(expectPet(await send(`/pets/${known.id}`), 200), known.id);
      return `200, animal ${known.id}`;
    },
  },
  missing('get-missing', 'an unknown id', '2147483647'),
  missing('get-int64', 'the unknown id 2^63-1', '9223372036854775807'),
  {
    id: 'get-deprecation',
    rule: 'GET /pets/{petId}: headers that announce its removal',
    async run({ send, animals }) {
      const { headers } = await send(`/pets/${greatest(animals)?.id ?? 1}`);
      const sunset = headers.get('sunset');
      const announced = ['deprecation', 'sunset', 'link']
        .filter((name) => headers.has(name))
        .map((name) => `${name}: ${shown(headers.get(name))}`);
      const differs = sunset !== null && Date.parse(sunset) !== getPetRemoval.valueOf();
      const date = getPetRemoval.toISOString().slice(0, 10);
      return info(
        (announced.join(', ') || 'none') + (differs ? `; the contract's date is ${date}` : ''),
      );
    },
  },
  unspecified('orders', '/store/orders'),
];

/**
 * Sends no key and a wrong one. For orders the contract specifies no status, so any refusal passes as
 * information.
 */
function withoutKey(id: string, shownPath: string, path: (service: Service) => string): Check[] {
  return unauthenticatedRequests.map(({ id: suffix, description, request }) => ({
    id: `${id}-${suffix}`,
    rule: `GET ${shownPath} ${description}: 401 with an Error body`,
    async run(service) {
      const response = await service.send(path(service), request);
      const isUnspecified = id === 'orders' && response.status >= 300 && response.status !== 401;
      return isUnspecified ? info(describe(response)) : expectError(response, 401);
    },
  }));
}

function listing(path: string, limit: number) {
  return async ({ send }: Service): Promise<string> =>
    `200, ${formatAnimals(expectPets(await send(path), limit).length)}`;
}

async function filtering({ send, animals }: Service, status: Pet['status']): Promise<string> {
  const limit = pageSize.maximum;
  const pets = expectPets(await send(`/pets?status=${status}&limit=${limit}`), limit);
  const other = pets.find((pet) => pet.status !== status);
  requireThat(
    !other,
    `status of animal ${other?.id}: expected ${shown(status)}, received ${shown(other?.status)}`,
  );
  const ids = new Set(pets.map(({ id }) => id));
  const missed = animals.find((pet) => pet.status === status && !ids.has(pet.id));
  // The animal may be on a later page of a full list; the contract does not specify paging.
  requireThat(
    missed === undefined || pets.length === limit,
    `animal ${missed?.id} has this status but is not in the list of ${pets.length}`,
  );
  return `200, ${formatAnimals(pets.length)}`;
}

function missing(id: string, description: string, petId: string): Check {
  return {
    id,
    rule: `GET /pets/{petId} with ${description}: 404 with an Error body`,
    async run({ send }) {
      const response = await send(`/pets/${petId}`);
      if (response.status !== 200) return expectError(response, 404);
      expectId(expectPet(response, 200), petId);
      return skip(`animal ${petId} exists`);
    },
  };
}

function expectId(pet: Pet, id: string): void {
  requireThat(pet.id === id, `expected animal ${id}, received animal ${pet.id}`);
}

function unspecified(id: string, path: string): Check {
  return {
    id,
    rule: `GET ${path}`,
    run: async ({ send }) => info(describe(await send(path))),
  };
}

/** Returns the animal with the greatest id, which loses digits first if the service rounds. */
function greatest(pets: readonly Pet[]): Pet | undefined {
  return pets.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))[0];
}
