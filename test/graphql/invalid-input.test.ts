import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../packages/client/src/errors.ts';
import { createSchema } from '../../src/petstore/graphql/schema.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';
import { recording } from '../support/recording.ts';

const shared = disposeAfterAll(await openGateway());
const int64 = 'Expected a whole number from -2^63 to 2^63-1, received';
const lost = 'Expected one of available, pending, sold, received "lost".';
const beyond = '99999999999999999999';
const addPet = 'mutation ($input: AddPetInput!) { addPet(input: $input) { id } }';
const separate = `mutation ($n: String!, $c: ID!, $s: PetStatus) {
  addPet(input: { name: $n, categoryId: $c, status: $s }) { id } }`;

/** The issues of each error of two executions: the first one is not compiled, the second is. */
async function issuesOf(query: string, variables: Record<string, unknown>) {
  const { petStore, calls } = recording(await openBuiltin());
  await using opened = await openGateway({ petStore });
  const first = await postGraphQL(opened.gateway, query, variables);
  for (let time = 0; time < 2; time++) {
    const next = await postGraphQL(opened.gateway, query, variables);
    const withoutId = ({ text }: { text: string }) => text.replaceAll(/"requestId":"[^"]+"/g, '');
    expect(withoutId(next)).toBe(withoutId(first));
  }
  expect(calls).toEqual([]);
  return (first.errors ?? []).map((error) => {
    if (!isGatewayError(error, 'BAD_USER_INPUT')) throw new Error(first.text);
    return error.extensions.issues?.map(({ path, message }) => [path.join('.'), message]);
  });
}

describe('the issues of BAD_USER_INPUT', () => {
  it.each<[string, string, Record<string, unknown>, [string, string][]]>([
    [
      "the gateway's own checks and a wrong type at once",
      addPet,
      { input: { name: 'Rex', categoryId: beyond, status: 'lost' } },
      [
        ['input.categoryId', `${int64} "${beyond}".`],
        ['input.status', lost],
      ],
    ],
    [
      'each use of a variable',
      `query ($n: ID!, $l: PetStatus) { pet(id: $n) { id } b: pet(id: $n) { name }
        pets(status: $l) { id } }`,
      { n: 'dogs', l: 'lost' },
      [
        ['n', `${int64} "dogs".`],
        ['l', lost],
      ],
    ],
    [
      'missing and unknown fields',
      addPet,
      { input: { nme: 'Rex', status: 5, constructor: 1 } },
      [
        ['input.categoryId', `${int64} nothing.`],
        ['input.name', 'Expected a string, received nothing.'],
        ['input.status', 'Expected one of available, pending, sold, received 5.'],
        ['input.nme', 'Unknown field nme of AddPetInput; did you mean name?'],
        ['input.constructor', 'Unknown field constructor of AddPetInput.'],
      ],
    ],
    [
      'a missing variable, and a number as it was sent',
      'query ($a: ID!, $b: ID!) { a: pet(id: $a) { id } b: pet(id: $b) { id } }',
      { b: JSON.rawJSON('9007199254740993.5') },
      [
        ['a', `${int64} nothing.`],
        ['b', `${int64} 9007199254740993.5.`],
      ],
    ],
    [
      'variables below an input object, by their own names',
      separate,
      { n: 'Rex', c: 'dogs', s: 'lost' },
      [
        ['c', `${int64} "dogs".`],
        ['s', lost],
      ],
    ],
    [
      'literals',
      `mutation { addPet(input: { name: "Rex", categoryId: ${beyond} }) { id } }`,
      {},
      [['input.categoryId', `${int64} "${beyond}".`]],
    ],
  ])('list %s', async (_, query, variables, expected) => {
    const [issues, ...others] = await issuesOf(query, variables);
    expect(others).toEqual([]);
    expect(issues?.sort()).toEqual(expected.sort());
  });

  it('belong to the field that has them', async () => {
    const query = `query ($l: Int, $id: ID!) {
      a: pets(limit: $l) { id } b: pets(limit: 101) { id } c: pet(id: $id) { id } }`;
    expect(await issuesOf(query, { l: 0, id: 'x' })).toEqual([
      [['l', 'Expected an integer from 1 to 100, received 0.']],
      [['limit', 'Expected an integer from 1 to 100, received 101.']],
      [['id', `${int64} "x".`]],
    ]);
  });

  it.each([
    'query ($l: ID = "1") { pet(id: $l) { id } }',
    'mutation ($l: String = "d") { addPet(input: { name: $l, categoryId: 1 }) { name } }',
  ])('name a variable with a default that is null: %s', async (query) => {
    expect(await issuesOf(query, { l: null })).toEqual([
      [['l', expect.stringMatching(/"\$l" provided to non-null type "\w+!" not to be null/)]],
    ]);
  });

  it('are also found if the operation has a @defer', async () => {
    const query =
      'query ($n: Int, $s: PetStatus) { __typename ... @defer { pets(limit: $n, status: $s) { id } } }';
    const accept = 'multipart/mixed, application/json';
    const headers = { authorization: 'Bearer demo-key', accept };
    const { errors } = await postGraphQL(shared.gateway, query, { n: 0, s: 'lost' }, headers);
    expect(errors?.[0]?.extensions['issues']).toMatchObject([{ path: ['n'] }, { path: ['s'] }]);
  });

  it('are repeated by the message, a line each', async () => {
    const input = { name: 'Rex', categoryId: 'dogs', status: 'lost' };
    const { errors, data } = await postGraphQL(shared.gateway, addPet, { input });
    expect(data).toBeUndefined();
    expect(errors?.map(({ message }) => message)).toEqual([
      `$input.categoryId: expected a whole number from -2^63 to 2^63-1, received "dogs".\n$input.status: ${lost.replace('E', 'e')}`,
    ]);
  });

  it('have the locations of the invalid variables only', async () => {
    const query = `query ($l: Int,
      $s: PetStatus,
      $id: ID!) { pets(limit: $l, status: $s) { id } pet(id: $id) { id } }`;
    const { errors } = await postGraphQL(shared.gateway, query, { l: 5, s: 'lost', id: '1' });
    expect(errors).toMatchObject([{ locations: [{ line: 2, column: 7 }] }]);
  });

  it('are none for an empty name, which the contract does not exclude', async () => {
    const input = { name: '', categoryId: 1 };
    const query = 'mutation ($input: AddPetInput!) { addPet(input: $input) { name } }';
    const { text } = await postGraphQL(shared.gateway, query, { input });
    expect(text).toBe('{"data":{"addPet":{"name":""}}}');
  });

  it('describe what each scalar has to be, also for fields of a host', async () => {
    const scalars = ['Int', 'Float', 'String', 'Boolean', 'ID'];
    const schema = createSchema((builder) => {
      builder.queryField('any', (t) =>
        t.string({
          args: {
            Int: t.arg.int(),
            Float: t.arg.float(),
            String: t.arg.string(),
            Boolean: t.arg.boolean(),
            ID: t.arg.id(),
          },
          resolve: () => 'any',
        }),
      );
    });
    await using opened = await openGateway({ schema });
    const query = `query (${scalars.map((name) => `$${name}: ${name}`)}) {
      any(${scalars.map((name) => `${name}: $${name}`)}) }`;
    const variables = { Int: 'a', Float: 'a', String: 1, Boolean: 1, ID: true };
    const { errors } = await postGraphQL(opened.gateway, query, variables);
    expect(errors?.[0]?.message.split('\n')).toEqual([
      '$Int: expected a 32-bit integer, received "a".',
      '$Float: expected a number, received "a".',
      '$String: expected a string, received 1.',
      '$Boolean: expected true or false, received 1.',
      '$ID: expected a string or an integer, received true.',
    ]);
  });

  it('quote also what a host passes although JSON has it not', async () => {
    const circular: unknown[] = [];
    circular.push(circular);
    const query = 'query ($s: PetStatus) { pets(status: $s) { id } }';
    for (const s of [{ a: 1 }, circular, () => 1]) {
      const { errors } = await shared.execute(query, { s });
      expect(errors).toMatchObject([{ extensions: { issues: [{ path: ['s'] }] } }]);
      expect(errors?.[0]?.message).toMatch(/^\$s: .*PetStatus.*(?:a: 1|Circular|function)/);
    }
  });

  it('are none for a variable that is left out and has a default', async () => {
    const query = 'query ($s: PetStatus! = sold, $l: Int) { pets(status: $s, limit: $l) { id } }';
    expect(await issuesOf(query, { l: 'a' })).toEqual([
      [['l', 'Expected an integer from 1 to 100, received "a".']],
    ]);
  });

  it('are at most 20', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`u${index}`, 1]));
    const [issues] = await issuesOf(addPet, { input: unknown });
    expect(issues).toHaveLength(20);
  });
});
