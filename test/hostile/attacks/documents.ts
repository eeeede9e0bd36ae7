import { createHash } from 'node:crypto';
import type { Attack } from '../attack.ts';
import { floodOf, graphql } from '../drive.ts';

/** Nearly the maximum size of a body. */
const long = 'x'.repeat(250_000);
const fields = (count: number, one: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => one(index)).join(' ');
const addPet = 'mutation($input: AddPetInput!) { addPet(input: $input) { id } }';
const pad = (index: number, length: number) => String(index).padEnd(length, ' ');

/**
 * Attacks by bodies and URLs that are expensive to parse, validate, coerce, quote, cache or
 * execute.
 */
export const documentAttacks: readonly Attack[] = [
  floodOf('variable of 250 KB', 12, () =>
    graphql(addPet, {
      input: {
        name: long,
        ...Object.fromEntries([...Array(100).keys()].map((n) => [`u${n}`, n])),
      },
    }),
  ),
  floodOf('literal of 250 KB', 12, () =>
    graphql(
      `mutation { addPet(input: { name: "${long}" ${fields(100, (n) => `u${n}: 1`)} }) { id } }`,
    ),
  ),
  floodOf('enum value of 250 KB', 12, () =>
    graphql(
      `query(${fields(15, (n) => `$v${n}: PetStatus`)}) { ${fields(15, (n) => `a${n}: pets(status: $v${n}) { id }`)} }`,
      Object.fromEntries([...Array(15).keys()].map((n) => [`v${n}`, 'x'.repeat(16_000)])),
    ),
  ),
  floodOf('variable with a name of 240 KB', 12, () => {
    const name = 'v'.repeat(240_000 / 2);
    return graphql(`query($${name}: AddPetInput!) { __typename }`, {
      [name]: Object.fromEntries([...Array(100).keys()].map((n) => [`u${n}`, n])),
    });
  }),
  floodOf('variable of thousands of unknown members', 12, () =>
    graphql(addPet, {
      input: Object.fromEntries([...Array(9000).keys()].map((n) => [`u${n}`, n])),
    }),
  ),
  floodOf('comments of 250 KB', 12, (index) =>
    graphql(`{ pets { id } } #${index}\n${`#${'x'.repeat(48)}\n`.repeat(4900)}`),
  ),
  floodOf('many operations over one fragment', 12, (index) => ({
    body: JSON.stringify({
      query: `${fields(30, (n) => `query Q${n} { ...F }`)} fragment F on Query { ${fields(19, (n) => `a${n}: pets(limit: 1) { ...G }`)} } fragment G on Pet { ${'id name '.repeat(24)} } #${index % 300}`,
      operationName: `Q${Math.floor(index / 900) % 30}`,
    }),
  })),
  floodOf('long Accept headers', 32, () => ({
    headers: { accept: 'a,'.repeat(7500) },
    body: graphql('{ __typename }'),
  })),
  floodOf('aliases of 12 KB', 12, () =>
    graphql(`{ ${fields(20, (n) => `a${n}${'x'.repeat(12_000)}: pets(limit: 0) { id }`)} }`),
  ),
  floodOf('type of 80 KB', 12, () => {
    const name = 'T'.repeat(80_000);
    return graphql(`query($v: ${name}) @${name} { ...f } fragment f on ${name} { id }`);
  }),
  floodOf('long invalid documents', 16, (index) => graphql(`{ nope${pad(index, 200_000)} }`)),
  floodOf('long valid documents', 16, (index) =>
    graphql(`{ ${pad(index, 100_000).replace(/^\d+/, (digits) => `a${digits}: __typename`)} }`),
  ),
  floodOf('wide valid documents', 32, (index) =>
    graphql(`{ a${index}: pets(limit: 3) { ${'id name categoryId status '.repeat(30)} } }`),
  ),
  floodOf(
    'made-up registrations',
    32,
    (index) => {
      const query = `{ a${pad(index, 20_000).replace(/^\d+/, (digits) => `${digits}: pets { id }`)} }`;
      const sha256Hash = createHash('sha256').update(query).digest('hex');
      return {
        headers: { authorization: `Bearer made-up-${index}` },
        body: JSON.stringify({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } }),
      };
    },
    { settings: { PERSISTED_DOCUMENTS: 'allow' } },
  ),
  floodOf('made-up keys', 32, (index) => ({
    headers: { authorization: `Bearer ${'k'.repeat(8000)}${index}` },
    body: graphql('{ pets { id } }'),
  })),
  floodOf('alias flood', 16, () => graphql(`{ ${fields(20_000, (n) => `a${n}: orders`)} }`)),
  floodOf('repeated fields', 16, () => graphql(`{ ${'id '.repeat(80_000)} }`)),
  floodOf('deep query', 16, () => graphql('{a'.repeat(100_000))),
  floodOf('doubling fragments', 16, () =>
    graphql(
      `{ ...f0 } ${fields(40, (n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`)} fragment f40 on Query { __typename }`,
    ),
  ),
  floodOf('cyclic fragments', 16, () => {
    const spreads = fields(9, (n) => `...f${n}`);
    return graphql(`{ ${spreads} } ${fields(9, (n) => `fragment f${n} on Query { ${spreads} }`)}`);
  }),
  floodOf('fields to merge', 16, (index) =>
    graphql(
      `{ ${fields(19, (n) => `a: pets(limit: 3) { a${index}: id b${n}: name ${'c: id '.repeat(10)} }`)} }`,
    ),
  ),
  // Without a key, so that no document is cached for an accepted one.
  floodOf('fields of unused fragments', 8, (index) => ({
    headers: { authorization: undefined },
    body: graphql(`{__typename} fragment F${index} on Query{${'a{b} '.repeat(246)}}`),
  })),
  floodOf('directives', 16, () => graphql(`{ __typename ${'@skip(if: false) '.repeat(14_000)} }`)),
  floodOf('operation name of 120 KB', 16, (index) => {
    const operationName = `q${index}${'x'.repeat(120_000)}`;
    return JSON.stringify({ query: `query ${operationName} { __typename }`, operationName });
  }),
  floodOf('id of 250,000 zeros', 12, () =>
    graphql('query($v: ID!) { pet(id: $v) { id } }', { v: `${'0'.repeat(250_000)}1` }),
  ),
  floodOf(
    'escapes',
    12,
    () =>
      `{"query":"mutation { addPet(input: { name: \\"${'\\\\u0000'.repeat(35_000)}\\", categoryId: 1 }) { id } }"}`,
  ),
  floodOf(
    'misspelt names',
    16,
    (index) =>
      graphql(
        `{ ${fields(20, (n) => `pet${index}s${n}`)} pets { ${fields(200, (n) => `nam${index}${n}`)} } }`,
      ),
    { settings: { INTROSPECTION: 'on' } },
  ),
  floodOf(
    'deep variable',
    16,
    () =>
      `{"query":"query($v: Int) { pets(limit: $v) { id } }","variables":{"v":${'['.repeat(120_000)}${']'.repeat(120_000)}}}`,
  ),
  floodOf('id of 250,000 digits', 12, (index) =>
    index % 4 < 2
      ? graphql(`{ pet(id: ${'9'.repeat(250_000)}) { id } }`)
      : `{"query":"query($v: ID!) { pet(id: $v) { id } }","variables":{"v":${'9'.repeat(250_000)}}}`,
  ),
  floodOf(
    'numbers beyond 2^53',
    12,
    () =>
      `{"query":"query($v: Int) { pets(limit: $v) { id } }","variables":{"v":[${Array(12_000).fill('9223372036854775807').join()}]}}`,
  ),
  floodOf(
    'introspection',
    32,
    (index) =>
      graphql(
        `{ __schema { types { name a${index}: fields { name args { name type { name ofType { name ofType { name } } } } type { name } } inputFields { name } enumValues { name } } } }`,
      ),
    { settings: { INTROSPECTION: 'on' } },
  ),
  floodOf('fifteen large pages', 8, () => ({
    body: graphql(`{ ${fields(15, (n) => `a${n}: pets(limit: 99) { id name }`)} }`),
  })),
  floodOf('orders of 3.5 MB', 16, () => graphql('{ orders }')),
  floodOf('fifteen lists of orders', 8, () => graphql(`{ ${fields(15, (n) => `a${n}: orders`)} }`)),
  floodOf('twenty different large pages', 8, () =>
    graphql(
      `{ ${fields(20, (n) => `a${n}: pets(limit: ${90 + (n % 10)}${n < 10 ? '' : ', status: sold'}) { id }`)} }`,
    ),
  ),
  floodOf('a large page thirty times', 8, () =>
    graphql(`{ pets(limit: 99) { ${fields(30, (n) => `a${n}: name`)} } }`),
  ),
];
