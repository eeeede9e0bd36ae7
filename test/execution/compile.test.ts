import { buildSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { compileOperation } from '../../src/execution/compile.ts';
import { schema } from '../../src/graphql/schema.ts';
import { storeOf } from './differential.ts';

const rex = { id: '1', name: 'Rex', categoryId: '2' };

/** Executes compiled code with a store that returns these animals. */
function execute(text: string, listPets: unknown, variables: object = {}) {
  const { context } = storeOf({ listPets });
  return compileOperation(schema, parse(text))?.(context, { ...variables });
}

describe('compileOperation', () => {
  it.each([
    ['introspection', '{ __schema { queryType { name } } pets { id } }'],
    ['__proto__ as a response key', '{ pets { __proto__: id } }'],
    ['__proto__ as the response key of a root field', '{ __proto__: pets { id } }'],
    [
      'more than four conditions',
      `query (${'abcde'.replaceAll(/./g, '$$$&: Boolean = true ')}) {
        ${'abcde'.replaceAll(/./g, '$&: pets @include(if: $$$&) { id } ')} }`,
    ],
    ['invalid variables', 'query ($limit: Int!) { pets(limit: $limit) { id } }'],
  ])('does not compile %s', (_, text) => {
    expect(execute(text, [rex])).toBeUndefined();
  });

  it.each([
    '{ required { id } }',
    '{ records { number } }',
    '{ records { next { id } } }',
    '{ records { words } }',
  ])('does not compile a field of a kind that this schema has not: %s', (text) => {
    const other = buildSchema(`
      type Query { required: Item!, records: [Item] }
      type Item { id: ID, number: Int, next: Item, words: [String!] }
    `);
    for (const field of Object.values(other.getQueryType()?.getFields() ?? {})) {
      field.resolve = () => [];
      field.extensions = { contractResolver: field.resolve };
    }
    const compiled = (source: string) => compileOperation(other, parse(source))?.({}, {});
    expect(compiled('{ records { id } }')).toBeDefined();
    expect(compiled(text)).toBeUndefined();
  });

  it('evaluates @include and @skip with the variables of each execution', async () => {
    const text = `query ($a: Boolean!, $b: Boolean!) {
      pets { id @skip(if: $a) name @include(if: $b) categoryId } }`;
    const compiled = compileOperation(schema, parse(text));
    for (const [a, b] of [1, 2, 3, 0, 1].map((bits) => [bits > 1, bits % 2 > 0])) {
      const { data } = (await compiled?.(storeOf({ listPets: [rex] }).context, { a, b })) ?? {};
      const expected = { ...(!a && { id: '1' }), ...(b && { name: 'Rex' }), categoryId: '2' };
      expect(data).toEqual({ pets: [expected] });
    }
  });
});
