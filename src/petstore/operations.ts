import type { BackendOf } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import { int64, text } from '../contract/fields.ts';
import type { Contract, Operations, Upstream, ValueOf } from '../contract/operation.ts';
import { getPetRemoval, limit, message, pageSize, pet } from './records.ts';

/** The services of the contract. The messages of the quickstart have a base address of their own. */
export const services = {
  pets: { mountedAt: '/v1', version: '/v1', variable: 'PETSTORE_BASE_URL' },
  messages: {
    mountedAt: '/quickstart',
    version: '',
    variable: 'MESSAGES_BASE_URL',
    missing: 'This gateway is not configured to send messages.',
  },
} as const satisfies Readonly<Record<string, Upstream>>;

/** The operations of the contract ("Endpoints"). */
export const operations = {
  /** At most `limit` pets, only of `status` if given. Without a limit, the service's default of 20 applies. */
  listPets: {
    method: 'GET',
    path: '/pets',
    service: 'pets',
    field: 'Query.pets',
    query: {
      limit: { kind: limit, limits: pageSize },
      status: { kind: pet.fields.status.kind, filters: true },
    },
    response: { listOf: pet, maximum: pageSize.maximum },
    checks: 'list',
    status: 200,
  },
  /** Resolves after the pet is stored durably. */
  createPet: {
    method: 'POST',
    path: '/pets',
    service: 'pets',
    field: 'Mutation.addPet',
    body: pet,
    response: pet,
    checks: 'create',
    status: 201,
  },
  /** Deprecated. The contract has a 404 only here, by the service that has accepted the key. */
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    service: 'pets',
    field: 'Query.pet',
    parameters: { petId: int64 },
    response: pet,
    checks: 'get',
    removal: { date: getPetRemoval, successor: '/pets' },
    status: 200,
    acceptsKeyWith404: true,
  },
  /** JSON of unpublished shape. */
  listOrders: {
    method: 'GET',
    path: '/store/orders',
    service: 'pets',
    field: 'Query.orders',
    response: 'json',
    checks: 'orders',
    refusal: 'unpublished',
  },
  sendMessage: {
    method: 'POST',
    path: '/messages',
    service: 'messages',
    field: 'Mutation.sendMessage',
    body: { member: 'message', kind: text },
    response: message,
    checks: 'message',
    refusal: 'status',
  },
} as const satisfies Operations;

/** The REST contract of the pet store. Listing one pet shows whether a key is accepted. */
export const contract = {
  operations,
  services,
  probe: { id: 'listPets', value: { limit: 1 } },
} as const satisfies Contract;

/** The id of an operation, which is its method of `PetStore`. */
export type OperationId = keyof typeof operations;

/** The query of `listPets`. */
export type ListPetsQuery = ValueOf<(typeof operations)['listPets']>;

/** A backend of the pet store. */
export type PetStore<By extends Caller = Caller> = BackendOf<typeof operations, By>;
