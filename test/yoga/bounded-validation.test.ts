import { describe, expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { openGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL } from '../support/graphql.ts';

const { gateway } = disposeAfterAll(await openGateway());
const long = 'x'.repeat(250_000);
const unknown = Array.from({ length: 60 }, (_, index) => [`unknown${index}`, 1] as const);
const addPet = 'mutation ($input: AddPetInput!) { addPet(input: $input) { id } }';

/** Requests of 250 kB with many errors at once. */
const requests: readonly [name: string, query: string, variables?: Record<string, unknown>][] = [
  [
    'a variable with a long name and unknown fields',
    addPet,
    { input: { name: long, categoryId: 1, ...Object.fromEntries(unknown) } },
  ],
  [
    'a literal with a long name and unknown fields',
    `mutation { addPet(input: { name: "${long}", categoryId: 1 ${unknown.map(([name]) => `${name}: 1`).join(' ')} }) { id } }`,
  ],
  ['a variable of a wrong type', 'query ($n: Int) { pets(limit: $n) { id } }', { n: long }],
  ['an enum value', `{ pets(status: ${long}) { id } }`],
  ['many unknown fields', `{ pets { ${unknown.map(([name]) => name).join(' ')} } }`],
  ['a long field', `{ ${long} }`],
  ['a long argument', `{ pets(${long}: 1) { id } }`],
  ['a long directive', `{ pets { id @${long} } }`],
  ['a long variable', `query ($${long}: Nope) { __typename }`],
  ['a long fragment', `{ ...${long} }`],
  ['a long type', `query ($a: ${long}) { __typename }`],
  ['a long string that is an id', `{ pet(id: "${long}") { id } }`],
  ['a long syntax error', `{ pets( ${long} }`],
  ['a long parameter', '{ __typename }', { [long]: 1 }],
];

describe('errors', () => {
  it.each(requests)('do not quote all of %s', async (_, query, variables) => {
    const { text, errors = [] } = await postGraphQL(gateway, query, variables);
    expect(errors.length).toBeLessThanOrEqual(11);
    expect(text.length).toBeLessThan(8000);
  });

  it('quote the items of a list before a long one', async () => {
    const query = 'query ($n: Int) { pets(limit: $n) { id } }';
    const { errors } = await postGraphQL(gateway, query, { n: ['first', long] });
    expect(errors?.[0]?.message).toMatch(/\["first", "x+…/);
  });

  it('do not quote all of an unknown member of the body', async () => {
    const parameters = { query: '{ __typename }', [long]: 1 };
    const request = graphqlRequest('http://gateway.test', parameters);
    expect((await (await gateway(request)).text()).length).toBeLessThan(500);
  });
});

describe('a long text', () => {
  const long = `${'x'.repeat(2000)}y`;

  it.each([
    ['a variable', addPet, { input: { name: long, categoryId: '1' } }],
    ['a literal', `mutation { addPet(input: { name: "${long}", categoryId: 1 }) { id } }`],
    [
      'a default',
      `mutation ($name: String = "${long}") { addPet(input: { name: $name, categoryId: 1 }) { id } }`,
    ],
  ])('reaches the store in full as %s', async (_, query, variables?: object) => {
    const { errors } = await postGraphQL(gateway, query, variables);
    // The built-in service's error message contains the length of the name.
    expect(errors?.[0]?.message).toContain('2001');
  });
});
