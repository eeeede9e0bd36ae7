import { createPets, orders } from './pets.ts';
import { apollo, barePost, type Operation, type Shape } from './shapes.ts';

/** One kind of load: an operation, repeated by every connection. */
export interface Workload extends Operation {
  readonly name: string;
  /** The heading of its column. */
  readonly title: string;
  /** How many API keys take turns; infinitely many for a new one in each request. */
  readonly keys: number;
  /** The kind of HTTP request that the operation is sent as. */
  readonly shape: Shape;
  /** The correct data: the bodies of the REST calls, by root field. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The paths of the REST calls, relative to the base address. */
  readonly paths: readonly string[];
}

const fields = '{ id name categoryId status }';

/** Those of a busy service within minutes. */
const knownKeys = 1000;

function listPets(count: number): Workload {
  return {
    name: `pets-${count}`,
    title: count === 1 ? '1 pet' : `${count} pets`,
    keys: knownKeys,
    shape: barePost,
    query: `query Pets($limit: Int) { pets: pets(limit: $limit) ${fields} }`,
    variables: { limit: count },
    data: { pets: createPets(count) },
    paths: [`/pets?limit=${count}`],
  };
}

/** The workload of `npm run dev -- bench:scale`: a list of 20 pets, with a thousand keys. */
export const defaultWorkload = listPets(20);

/** All workloads, in the order of their columns. */
export const workloads: readonly Workload[] = [
  { ...defaultWorkload, name: 'apollo', title: "Apollo Client's POST, 20 pets", shape: apollo },
  listPets(1),
  defaultWorkload,
  listPets(100),
  {
    name: 'five-fields',
    title: 'five root fields',
    keys: knownKeys,
    shape: barePost,
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
    paths: [
      '/pets?limit=5&status=available',
      '/pets?limit=5&status=pending',
      '/pets?limit=5&status=sold',
      '/pets?limit=5',
      '/store/orders',
    ],
  },
  {
    ...defaultWorkload,
    name: 'new-keys',
    title: '20 pets, new keys',
    keys: Number.POSITIVE_INFINITY,
  },
];
