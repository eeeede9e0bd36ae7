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

/** A feature that some servers lack: a database, persisted documents, queries by GET. */
export type Feature = Database | 'persisted' | 'get';

/** A database of the built-in backend. */
export type Database = 'sqlite' | 'postgres';

/** One kind of load. */
export interface Workload {
  /** The name for `--workload`. */
  readonly name: string;
  readonly title: string;
  /** The feature that a server must support, if any. */
  readonly needs?: Feature;
  /** One API key for all requests, or a different key for each. */
  readonly keys: 'one' | 'each';
  /** The kind of HTTP request that the operations are sent as. */
  readonly shape: Shape;
  /** The operations, sent in rotation. */
  readonly operations: readonly Operation[];
  /** The paths of the REST calls of each operation, relative to the base address. */
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

/** Creates a workload that lists `count` pets with a bare POST. */
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

/** The default workload of a profile, and the workload of start times and memory. */
export const defaultWorkload = pets(20, 'each');

const twelve = Array.from({ length: 12 }, (_, index) => `${index + 1}`);

/** The same operation as the default workload, sent as different clients send it. */
const shapes: readonly Workload[] = [
  { ...defaultWorkload, name: 'apollo', title: "Apollo Client's POST", shape: apollo },
  {
    ...defaultWorkload,
    name: 'apollo-12',
    title: "Apollo Client's POST, twelve documents",
    shape: apollo,
    operations: twelve.map((number) => listPets(20, `pets${number}`, `Pets${number}`)),
  },
  { ...defaultWorkload, name: 'urql', title: "urql's GET", shape: urql, needs: 'get' },
  { ...defaultWorkload, name: 'urql-post', title: "urql's POST", shape: urqlPost },
  {
    ...defaultWorkload,
    name: 'persisted-get',
    title: 'Persisted document by GET',
    shape: persistedGet,
    needs: 'persisted',
  },
  {
    ...defaultWorkload,
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

/** Whether a workload needs a database instead of the REST service. */
export function needsDatabase({ needs }: Workload): boolean {
  return needs === 'sqlite' || needs === 'postgres';
}

function petsFrom(database: Database, title: string): Workload {
  return {
    ...pets(20, 'one'),
    name: database,
    title: `20 pets from ${title}, one key`,
    needs: database,
  };
}

/** All workloads, in the order in which they run. */
export const workloads: readonly Workload[] = [
  ...shapes,
  ...[1, 20, 100].flatMap((count) => [
    pets(count, 'one'),
    count === 20 ? defaultWorkload : pets(count, 'each'),
  ]),
  fiveFields,
  petsFrom('sqlite', 'SQLite'),
  petsFrom('postgres', 'PostgreSQL'),
];

/** The workloads that compare the gateway with itself, with the bare POST first. */
export const ownWorkloads: readonly Workload[] = [defaultWorkload, ...shapes];
