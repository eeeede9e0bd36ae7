import { type Check, type CheckedService, info, skip } from '../../conformance/check.ts';
import { expectError, requireThat } from '../../conformance/expect.ts';
import type { ServiceRequest } from '../../conformance/http-client.ts';
import { shown } from '../../contract/json.ts';
import { getPetRemoval, type Pet, type PetStatus, pageSize, petStatuses } from '../records.ts';
import {
  check,
  expectPet,
  expectPets,
  formatPets,
  type Pets,
  unspecified,
  withoutKey,
} from './check.ts';

/** The checks that only send GET requests. */
export const readingChecks: readonly Check<Pets>[] = [
  ...withoutKey('list', 'listPets'),
  ...withoutKey('get', 'getPet', getAny),
  ...withoutKey('orders', 'listOrders'),
  listing('list', '', '200 with an array of at most', pageSize.default),
  ...[pageSize.minimum, pageSize.maximum].map((limit) =>
    listing(`limit-${limit}`, `?limit=${limit}`, 'at most', limit),
  ),
  ...[pageSize.minimum - 1, pageSize.maximum + 1].map((limit) =>
    unspecified(`limit-${limit}`, 'listPets', `?limit=${limit}`),
  ),
  ...petStatuses.map(filtering),
  unspecified('filter-unknown', 'listPets', '?status=unknown'),
  check(
    'get',
    'getPet',
    ': 200 with the pet of this id, every digit exact',
    async ({ send, known: pets }) => {
      const known = greatest(pets);
      if (known === undefined) return skip('the list has no pet');
      expectId(expectPet(await send('getPet', { parameters: { petId: known.id } }), 200), known.id);
      return `200, pet ${known.id}`;
    },
  ),
  missing('get-missing', 'an unknown id', '2147483647'),
  missing('get-int64', 'the unknown id 2^63-1', '9223372036854775807'),
  check('get-deprecation', 'getPet', ': headers that announce its removal', async (service) => {
    const { headers } = await service.send('getPet', getAny(service));
    const announced = ['deprecation', 'sunset', 'link']
      .filter((name) => name in headers)
      .map((name) => `${name}: ${shown(headers[name])}`);
    const { sunset } = headers;
    const differs =
      sunset !== undefined && Date.parse(String(sunset)) !== Date.parse(getPetRemoval);
    const difference = differs ? `; the contract's date is ${getPetRemoval}` : '';
    return info((announced.join(', ') || 'none') + difference);
  }),
  unspecified('orders', 'listOrders'),
];

function listing(id: string, search: string, rule: string, limit: number): Check<Pets> {
  return check(id, 'listPets', `${search}: ${rule} ${formatPets(limit)}`, async ({ send }) => {
    const pets = expectPets(await send('listPets', { search }), limit);
    return `200, ${formatPets(pets.length)}`;
  });
}

function filtering(status: PetStatus): Check<Pets> {
  const rule = `?status=${status}: all pets of this status, and no others`;
  return check(`filter-${status}`, 'listPets', rule, async ({ send, known: pets }) => {
    const limit = pageSize.maximum;
    const search = `?limit=${limit}&status=${status}`;
    const filtered = expectPets(await send('listPets', { search }), limit);
    for (const pet of filtered) {
      const problem = `status of pet ${pet.id}: expected ${shown(status)}, received ${shown(pet.status)}`;
      requireThat(pet.status === status, problem);
    }
    const ids = new Set(filtered.map(({ id }) => id));
    const missed = pets.find((pet) => pet.status === status && !ids.has(pet.id));
    // The pet may be on a later page of a full list; the contract does not specify paging.
    requireThat(
      missed === undefined || filtered.length === limit,
      `pet ${missed?.id} has this status but is not in the list of ${filtered.length}`,
    );
    return `200, ${formatPets(filtered.length)}`;
  });
}

function missing(id: string, description: string, petId: string): Check<Pets> {
  const rule = ` with ${description}: 404 with an Error body`;
  return check(id, 'getPet', rule, async ({ send }) => {
    const response = await send('getPet', { parameters: { petId } });
    if (response.status !== 200) return expectError(response, 404);
    expectId(expectPet(response, 200), petId);
    return skip(`pet ${petId} exists`);
  });
}

function expectId(pet: Pet, id: string): void {
  requireThat(pet.id === id, `expected pet ${id}, received pet ${pet.id}`);
}

function getAny({ known: pets }: CheckedService<Pets>): ServiceRequest {
  return { parameters: { petId: greatest(pets)?.id ?? '1' } };
}

/** Returns the pet with the greatest id, which loses digits first if the service rounds. */
function greatest(pets: readonly Pet[]): Pet | undefined {
  return pets.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1))[0];
}
