import { buildSchema, parse } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { compileOperation } from '../../src/execution/compile.ts';
import { schema } from '../../src/petstore/graphql/schema.ts';
import { storeOf } from './differential.ts';

const rex = { id: '1', name: 'Rex', categoryId: '2' };

/** Executes compiled code, which is generated at the second use, with a store that returns these pets. */
function execute(text: string, listPets: unknown, variables: object = {}) {
  const { context } = storeOf({ listPets });
  const compiled = compileOperation(schema, parse(text));
  expect(compiled?.(context, { ...variables })).toBeUndefined();
  return compiled?.(context, { ...variables });
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
    const compiled = (source: string) => {
      const operation = compileOperation(other, parse(source));
      return operation?.({}, {}) ?? operation?.({}, {});
    };
    expect(compiled('{ records { id } }')).toBeDefined();
    expect(compiled(text)).toBeUndefined();
  });

  it('generates code for each of sixteen variants at its second use, and keeps it', async () => {
    const text = `query (${['a', 'b', 'c', 'd'].map((name) => `$${name}: Boolean!`).join()}) {
      pets { id @skip(if: $a) name @include(if: $b) categoryId @skip(if: $c) status @include(if: $d) x: id } }`;
    const compiled = compileOperation(schema, parse(text));
    const generated = vi.spyOn(globalThis, 'Function');
    for (const use of [1, 2, 3, 4]) {
      for (let bits = 0; bits < 16; bits++) {
        const [a, b, c, d] = [8, 4, 2, 1].map((bit) => (bits & bit) > 0);
        const result = compiled?.(storeOf({ listPets: [rex] }).context, { a, b, c, d });
        if (use === 1) {
          expect(result).toBeUndefined();
          continue;
        }
        const { data } = (await result) ?? {};
        const { id, name, categoryId } = rex;
        expect(data).toEqual({
          pets: [
            {
              ...(!a && { id }),
              ...(b && { name }),
              ...(!c && { categoryId }),
              ...(d && { status: null }),
              x: id,
            },
          ],
        });
      }
      expect(generated).toHaveBeenCalledTimes(use === 1 ? 0 : 16);
    }
    generated.mockRestore();
  });
});
