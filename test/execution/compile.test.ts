import {
  buildSchema,
  execute,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import { compileOperation } from '../../src/execution/compile.ts';
import { comparable } from './differential.ts';

type Resolvers = Readonly<Record<string, GraphQLFieldResolver<unknown, unknown>>>;

/** A schema with these resolvers, by field coordinate. */
function schemaOf(resolvers: Resolvers = {}) {
  const schema = buildSchema(`
    directive @other on QUERY | FIELD
    interface Node { id: ID }
    union Either = Item
    type Item implements Node { id: ID, names: [String], parent: Item, query: Query, typed: Typed }
    type Typed { id: ID }
    type Query { item: Item, items: [Item], node: Node, either: Either }
    type Mutation { first: Item, second: Item }
    type Subscription { item: Item }
  `);
  for (const name of ['Query', 'Mutation']) {
    for (const field of Object.values((schema.getType(name) as GraphQLObjectType).getFields())) {
      field.resolve = resolvers[`${name}.${field.name}`] ?? (() => null);
    }
  }
  const item = schema.getType('Item') as GraphQLObjectType;
  const parent = item.getFields()['parent'];
  const resolve = resolvers['Item.parent'];
  if (parent && resolve) parent.resolve = resolve;
  (schema.getType('Typed') as GraphQLObjectType).isTypeOf = () => true;
  return schema;
}

describe('compileOperation', () => {
  it.each([
    ['a subscription', 'subscription { item { id } }'],
    ['a field with an interface type', '{ node { id } }'],
    ['a field with a union type', '{ either { __typename } }'],
    ['a type with isTypeOf', '{ item { typed { id } } }'],
    ['a resolver below the root', '{ item { parent { id } } }'],
    ['introspection', '{ __schema { queryType { name } } item { id } }'],
    ['introspection below the root', '{ item { query { __type(name: "Item") { name } } } }'],
    ['a directive on the operation', 'query @other { item { id } }'],
    ['a directive on a field', '{ item @other { id } }'],
    ['@defer', '{ ... @defer { item { id } } }'],
    ['@stream', '{ items @stream { id } }'],
    ['disabled error propagation', 'query @experimental_disableErrorPropagation { item { id } }'],
    ['__proto__ as a response key', '{ item { __proto__: id } }'],
  ])('does not compile %s', (_, text) => {
    const schema = schemaOf({ 'Item.parent': () => null });
    expect(compileOperation(schema, parse(text), undefined)?.({}, {})).toBeUndefined();
  });

  it('evaluates @include and @skip with the variables of each execution', async () => {
    const schema = schemaOf({ 'Query.item': () => ({ id: '1', names: [] }) });
    const document = parse('query ($if: Boolean!) { item { id names @include(if: $if) } }');
    const compiled = compileOperation(schema, document, undefined);
    for (const value of [true, false, true]) {
      const { data } = (await compiled?.({}, { if: value })) ?? {};
      expect(data).toEqual({ item: value ? { id: '1', names: [] } : { id: '1' } });
    }
  });

  it.each([
    ['Item', '{ records { id word } }', '[{"id":"1","word":"a"}]'],
    ['Item!', '{ records { __typename w: word id } }', '[{"__typename":"Item","w":"a","id":"1"}]'],
    ['Item', '{ records { number } }', undefined],
    ['Item', '{ records { other } }', undefined],
    ['Item', '{ records { required } }', undefined],
    ['Item', '{ records { shout } }', undefined],
    ['Item', '{ records { id name } }', undefined],
  ])('copies records of %s from their text if possible: %s', async (type, text, expected) => {
    const schema = buildSchema(`
      enum Word { a b }
      enum Fewer { a }
      type Item { id: ID, word: Word, number: Int, other: Fewer, required: Word!, shout: Word, name: String }
      type Query { records: [${type}] }
    `);
    const item = {
      id: '1',
      word: 'a',
      number: '1',
      other: 'a',
      required: 'a',
      shout: 'a',
      name: 'a',
    };
    const records = {
      format: {
        properties: {
          ...{ id: 'digits', number: 'digits', word: ['a', 'b'], other: ['a', 'b'] },
          ...{ required: ['a', 'b'], name: 'string' },
        },
        createWriter: (literals: readonly string[], names: readonly string[]) => (values: string) =>
          names.includes('name')
            ? undefined
            : new JsonText(
                `[${literals.map((one, at) => one + (JSON.parse(values)[names[at] ?? ''] ?? '')).join('')}]`,
              ),
      },
      text: '{"id":1,"word":"\\"a\\""}',
      [Symbol.iterator]: () => [item].values(),
    };
    const field = schema.getQueryType()?.getFields()['records'];
    if (field) field.resolve = () => records;
    const document = parse(text);
    const compiled = compileOperation(schema, document, undefined);
    for (let again = 0; again < 2; again++) {
      const result = (await compiled?.({}, {})) ?? {};
      expect(comparable(result)).toEqual(comparable(await execute({ schema, document })));
      const completed = result.data?.['records'];
      expect(completed instanceof JsonText ? completed.text : undefined).toBe(expected);
    }
  });

  it('gives each execution its own argument objects', async () => {
    const schema = buildSchema('input In { n: Int } type Query { f(in: In): Int }');
    const field = schema.getQueryType()?.getFields()['f'];
    if (field) field.resolve = (_, args) => args.in.n++;
    for (const text of ['{ f(in: { n: 1 }) }', 'query ($in: In = { n: 1 }) { f(in: $in) }']) {
      const compiled = compileOperation(schema, parse(text), undefined);
      await compiled?.({}, {});
      expect(await compiled?.({}, {})).toEqual({ data: { f: 1 } });
    }
  });
});
