import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { disposeAfterAll } from '../support/dispose.ts';
import { openBuiltin, openGateway } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';
import { recording } from '../support/recording.ts';

const shared = disposeAfterAll(await openGateway());
const repeat = (count: number, one: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => one(index)).join(' ');
const nested = (depth: number) => `${'{ a: pets '.repeat(depth)}{ id }${' }'.repeat(depth)}`;

/** Fragments that each spread the next one twice: a few lines that expand to 2^30 fields. */
const doubling = `{ ...F0 } ${repeat(30, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)}
  fragment F30 on Query { a: orders }`;

/** Fragments without aliases or depth that expand to 2^n fields. */
function doubled(n: number): string {
  const fragments = repeat(n - 1, (i) => `fragment F${i} on Pet { ...F${i + 1} ...F${i + 1} }`);
  return `{ pets { ...F0 } } ${fragments} fragment F${n - 1} on Pet { name ...G } fragment G on Pet { id }`;
}

describe('the operation limits', () => {
  it.each([
    ['tokens', `{ ${repeat(1000, () => 'orders')} }`, '1000 tokens, received more than 1000'],
    ['depth', `query ${nested(10)}`, '10 levels of fields, received 11'],
    ['depth by a fragment', `{ ...F } fragment F on Query ${nested(10)}`, 'received 11'],
    ['aliases', `{ ${repeat(31, (i) => `a${i}: __typename`)} }`, '30 aliases, received 31'],
    [
      'directives',
      `{ orders ${repeat(51, () => '@skip(if: true)')} }`,
      '50 directives, received 51',
    ],
    ['directives of the operation', `query ${repeat(51, () => '@a')} { orders }`, 'received 51'],
    [
      'root fields',
      `{ ${repeat(21, () => 'orders')} }`,
      '20 root fields and deferred fragments, received 21',
    ],
    ['deferred fragments', `{ pets { ${repeat(20, () => '... @defer { id }')} } }`, 'received 21'],
    [
      'spreads of a deferred fragment',
      `{ ${repeat(11, (i) => `a${i}: pets { ...F }`)} } fragment F on Pet { ... @defer { id } }`,
      'received 22',
    ],
    ['root fields by fragments', doubling, 'aliases, received 1073741824'],
    ['fields by doubled fragments', doubled(24), 'fields, received 16777'],
    ['long names', `{ ${'a'.repeat(257)}: orders }`, '256 characters of a name, received 257'],
    ['lines', `{ orders }${'\n'.repeat(5000)}`, '5000 lines, received 5001'],
    ['long integers', `{ pet(id: ${'9'.repeat(1001)}) { id } }`, '1000 characters of a number'],
    ['long decimals', `{ pet(id: 0.${'9'.repeat(1000)}) { id } }`, 'number, received 1002'],
    ['aliases below the root', `{ pets { ${repeat(31, (i) => `a${i}: id`)} } }`, 'received 31'],
    ['levels of an unused fragment', `{ __typename } fragment F on Query ${nested(10)}`, 'levels'],
    [
      'aliases of an unused fragment',
      `{ __typename } fragment F on Pet { ${repeat(31, (i) => `a${i}: id`)} }`,
      'aliases, received 31',
    ],
    [
      'equal fields',
      `{ pets { ${repeat(31, () => 'id')} } }`,
      '30 fields with the same response path, received 31',
    ],
    [
      'equal aliases',
      `{ pets { ...{ ${repeat(30, () => 'id')} } id: name } }`,
      'path, received 31',
    ],
    [
      'equal fields below equal ones',
      `{ pets { a { ${repeat(16, () => 'b')} } a { ${repeat(15, () => 'b')} } } }`,
      'path, received 31',
    ],
    [
      'equal fields by fragments',
      `{ pets { ...F ...F id } } fragment F on Pet { ...G ...G ...G ...G ...G }
        fragment G on Pet { id id id }`,
      'path, received 31',
    ],
    [
      'equal fields in unused fragments',
      `{ __typename } fragment F on Pet { ...G } fragment G on Query { ${repeat(240, () => 'a { b }')} }`,
      'path, received 240',
    ],
    [
      'equal fields in a fragment whose name is used twice',
      `{ ...F } fragment F on Query { ${repeat(31, () => 'a')} } fragment F on Query { orders }`,
      'path, received 31',
    ],
  ])('refuse too many %s with 400, the limit and the count, before any call', async (_, query, message) => {
    const { petStore, calls } = recording(await openBuiltin());
    await using opened = await openGateway({ petStore });
    const { status, errors, data } = await postGraphQL(opened.gateway, query);
    expect(status).toBe(400);
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining(message),
        extensions: { code: 'OPERATION_TOO_LARGE', requestId: expect.any(String) },
      },
    ]);
    expect(calls).toEqual([]);
  });

  it.each([
    ['tokens and root fields', `{ ${repeat(20, () => 'orders')} }`],
    ['aliases', `{ ${repeat(20, (i) => `a${i}: __typename`)} }`],
    ['names', `{ ${'a'.repeat(256)}: orders } # ${'a'.repeat(2000)}`],
    ['the introspection query, which is deeper', getIntrospectionQuery()],
    [
      'equal fields',
      `{ pets { ${repeat(30, () => 'id')} ...F } pet(id: "1") { id } } fragment F on Pet { name }`,
    ],
  ])('accept documents at the limit: %s', async (_, query) => {
    const { status, errors } = await postGraphQL(shared.gateway, query);
    expect([status, errors]).toEqual([200, undefined]);
  });

  it('apply to each operation of a document separately', async () => {
    const query = `query A { ${repeat(15, (i) => `a${i}: __typename`)} } query B { ${repeat(15, (i) => `b${i}: __typename`)} }`;
    const { errors } = await postGraphQL(shared.gateway, query);
    expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }]);
  });

  it('apply to every use of a document', async () => {
    const query = `{ ${repeat(21, () => 'orders')} }`;
    for (const _ of [1, 2, 3]) expect((await postGraphQL(shared.gateway, query)).status).toBe(400);
  });

  it('report a cycle of fragments as a validation error', async () => {
    const query = '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }';
    const { errors } = await postGraphQL(shared.gateway, query);
    expect(errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('suggestions', () => {
  it.each([true, false])('are included only with introspection: %s', async (introspection) => {
    await using opened = await openGateway({ introspection });
    const ofField = await postGraphQL(opened.gateway, '{ pet { id } pest { id } }');
    const ofVariable = await postGraphQL(
      opened.gateway,
      'query ($s: PetStatus) { pets(status: $s) { id } }',
      { s: 'availabel' },
    );
    const besideLongText = await postGraphQL(
      opened.gateway,
      'mutation ($input: AddPetInput!) { addPet(input: $input) { id } }',
      { input: { name: 'x'.repeat(2000), categoryId: 1, status: 'availabel' } },
    );
    const ofInput = await postGraphQL(
      opened.gateway,
      'mutation ($input: AddPetInput!) { addPet(input: $input) { id } }',
      { input: { nam: 'x', categoryId: 1 } },
    );
    for (const { text } of [ofField, ofVariable, ofInput, besideLongText]) {
      const names = /Did you mean|did you mean name|one of available, pending, sold/;
      if (introspection) expect(text).toMatch(names);
      else expect(text).not.toMatch(names);
    }
  });
});
