import { createPets, orders } from './pets.ts';

/** One kind of request, sent again and again. */
export interface Workload {
  /** What `--workload` calls it. */
  readonly name: string;
  readonly title: string;
  readonly backend: 'rest' | 'builtin';
  /** One API key for all requests, or another one for each. */
  readonly keys: 'one' | 'each';
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The REST calls that answer it, below the base address. */
  readonly paths: readonly string[];
  /** The right answer: what those calls answer, by the names of the root fields. */
  readonly data: Readonly<Record<string, unknown>>;
}

const fields = '{ id name categoryId status }';

function pets(count: number, keys: Workload['keys']): Workload {
  return {
    name: `pets-${count}${keys === 'each' ? '-keys' : ''}`,
    title: `${count} ${count === 1 ? 'pet' : 'pets'}, ${keys === 'each' ? 'a key a request' : 'one key'}`,
    backend: 'rest',
    keys,
    query: `query Pets($limit: Int) { pets: pets(limit: $limit) ${fields} }`,
    variables: { limit: count },
    paths: [`/pets?limit=${count}`],
    data: { pets: createPets(count) },
  };
}

const fiveFields: Workload = {
  name: 'bff',
  title: 'Five root fields, a key a request',
  backend: 'rest',
  keys: 'each',
  query: `query Storefront($limit: Int) {
    available: pets(limit: $limit, status: available) ${fields}
    pending: pets(limit: $limit, status: pending) ${fields}
    sold: pets(limit: $limit, status: sold) ${fields}
    any: pets(limit: $limit) ${fields}
    orders: orders
  }`,
  variables: { limit: 5 },
  paths: [
    '/pets?limit=5&status=available',
    '/pets?limit=5&status=pending',
    '/pets?limit=5&status=sold',
    '/pets?limit=5',
    '/store/orders',
  ],
  data: {
    available: createPets(5, 'available'),
    pending: createPets(5, 'pending'),
    sold: createPets(5, 'sold'),
    any: createPets(5),
    orders,
  },
};

const builtin: Workload = {
  ...pets(20, 'one'),
  name: 'builtin',
  title: '20 pets from SQLite, one key',
  backend: 'builtin',
};

/** Every workload, in the order in which they run. */
export const workloads: readonly Workload[] = [
  ...[1, 20, 100].flatMap((count) => [pets(count, 'one'), pets(count, 'each')]),
  fiveFields,
  builtin,
];

/** The workload of a profile, and of the start: the first answer is one of these. */
export const usualWorkload = workloads.find(({ name }) => name === 'pets-20-keys') as Workload;
