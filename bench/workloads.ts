import { createPets, orders } from './pets.ts';
import {
  apollo,
  barePost,
  type Operation,
  persistedGet,
  persistedPost,
  type Shape,
  urql,
  urqlPost,
} from './shapes.ts';

/** What not every server can do: a backend of its own, persisted documents, queries by GET. */
export type Feature = 'builtin' | 'persisted' | 'get';

/** One kind of load. */
export interface Workload {
  /** What `--workload` calls it. */
  readonly name: string;
  readonly title: string;
  /** What a server needs for it, if not every one can do it. */
  readonly needs?: Feature;
  /** One API key for all requests, or another one for each. */
  readonly keys: 'one' | 'each';
  /** How the operations are sent. */
  readonly shape: Shape;
  /** The operations, sent in rotation. */
  readonly operations: readonly Operation[];
  /** The REST calls that answer each of them, below the base address. */
  readonly paths: readonly string[];
}

const fields = '{ id name categoryId status }';

function listPets(count: number, field = 'pets', name = 'Pets'): Operation {
  return {
    query: `query ${name}($limit: Int) { ${field}: pets(limit: $limit) ${fields} }`,
    variables: { limit: count },
    data: { [field]: createPets(count) },
  };
}

/** A list of so many pets by a bare POST. */
export function pets(count: number, keys: Workload['keys']): Workload {
  return {
    name: `pets-${count}${keys === 'each' ? '-keys' : ''}`,
    title: `${count} ${count === 1 ? 'pet' : 'pets'}, ${keys === 'each' ? 'a key per request' : 'one key'}`,
    keys,
    shape: barePost,
    operations: [listPets(count)],
    paths: [`/pets?limit=${count}`],
  };
}

/** The workload of a profile, and of the start: the first answer is one of these. */
export const usualWorkload = pets(20, 'each');

const twelve = Array.from({ length: 12 }, (_, index) => `${index + 1}`);

/** The same 20 pets with a key per request, sent as clients send them. */
const shapes: readonly Workload[] = [
  { ...usualWorkload, name: 'apollo', title: "Apollo Client's POST", shape: apollo },
  {
    ...usualWorkload,
    name: 'apollo-12',
    title: "Apollo Client's POST, twelve documents",
    shape: apollo,
    operations: twelve.map((number) => listPets(20, `pets${number}`, `Pets${number}`)),
  },
  { ...usualWorkload, name: 'urql', title: "urql's GET", shape: urql, needs: 'get' },
  { ...usualWorkload, name: 'urql-post', title: "urql's POST", shape: urqlPost },
  {
    ...usualWorkload,
    name: 'persisted-get',
    title: 'Persisted document by GET',
    shape: persistedGet,
    needs: 'persisted',
  },
  {
    ...usualWorkload,
    name: 'persisted-post',
    title: 'Persisted document by POST',
    shape: persistedPost,
    needs: 'persisted',
  },
];

const fiveFields: Workload = {
  name: 'bff',
  title: 'Five root fields, a key per request',
  keys: 'each',
  shape: barePost,
  operations: [
    {
      query: `query Storefront($limit: Int) {
    available: pets(limit: $limit, status: available) ${fields}
    pending: pets(limit: $limit, status: pending) ${fields}
    sold: pets(limit: $limit, status: sold) ${fields}
    any: pets(limit: $limit) ${fields}
    orders: orders
  }`,
      variables: { limit: 5 },
      data: {
        available: createPets(5, 'available'),
        pending: createPets(5, 'pending'),
        sold: createPets(5, 'sold'),
        any: createPets(5),
        orders,
      },
    },
  ],
  paths: [
    '/pets?limit=5&status=available',
    '/pets?limit=5&status=pending',
    '/pets?limit=5&status=sold',
    '/pets?limit=5',
    '/store/orders',
  ],
};

const builtin: Workload = {
  ...pets(20, 'one'),
  name: 'builtin',
  title: '20 pets from SQLite, one key',
  needs: 'builtin',
};

/** Every workload, in the order in which they run. */
export const workloads: readonly Workload[] = [
  ...shapes,
  ...[1, 20, 100].flatMap((count) => [
    pets(count, 'one'),
    count === 20 ? usualWorkload : pets(count, 'each'),
  ]),
  fiveFields,
  builtin,
];

/** What the gateway is compared with itself at: the bare POST first. */
export const ownWorkloads: readonly Workload[] = [usualWorkload, ...shapes];
