import SchemaBuilder from '@pothos/core';
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  lexicographicSortSchema,
  printSchema,
  printType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { addPetStore } from '../../src/petstore/graphql/add-pet-store.ts';
import type { PetStoreContext } from '../../src/petstore/graphql/calls.ts';
import { schema } from '../../src/petstore/graphql/schema.ts';

const added = ['Pet', 'PetStatus', 'AddPetInput', 'Message', 'DateTime', 'JSON'];

/** A builder whose defaults are the opposite of those of Pothos. */
function build() {
  const builder = new SchemaBuilder<{
    Context: PetStoreContext & { readonly tenant: string };
    DefaultFieldNullability: false;
    DefaultInputFieldRequiredness: true;
  }>({ defaultFieldNullability: false, defaultInputFieldRequiredness: true });
  const refs = addPetStore(builder);
  builder.queryType({});
  builder.mutationType({});
  return { builder, ...refs };
}

describe('a builder with the pet store', () => {
  it('has the types and fields of the gateway, whatever its defaults are', () => {
    const sorted = lexicographicSortSchema(build().builder.toSchema());
    const own = lexicographicSortSchema(schema);
    const print = (one: GraphQLSchema, name: string) =>
      // The descriptions of the root types belong to the builder.
      printType(one.getType(name) as GraphQLNamedType).replace(
        /^""".*?"""\ntype (?=Query|Mut)/s,
        'type ',
      );
    for (const name of ['Query', 'Mutation', ...added]) {
      expect(print(sorted, name)).toBe(print(own, name));
    }
  });

  it('takes typed fields of its own', () => {
    const { builder, Pet, PetStatus, Message } = build();
    builder.objectField(Pet, 'label', (t) =>
      t.string({
        resolve: ({ id, name, categoryId }, _args, { tenant, petStore }) =>
          [tenant, id satisfies string, name, categoryId, typeof petStore.getPet].join(),
      }),
    );
    builder.objectField(Message, 'length', (t) =>
      t.int({ resolve: ({ message }) => message.length }),
    );
    builder.queryField('favourite', (t) =>
      t.field({
        type: Pet,
        nullable: true,
        args: { status: t.arg({ type: PetStatus }) },
        resolve: async (_root, { status }, { petStore }, { path }) => {
          const [first] = await petStore.listPets({ limit: 1, status }, path.key);
          return first;
        },
      }),
    );
    builder.objectField(Pet, 'wrong', (t) =>
      // @ts-expect-error A pet has no owner.
      t.string({ resolve: ({ owner }) => owner }),
    );
    const sdl = printSchema(builder.toSchema());
    expect(sdl).toContain('favourite(status: PetStatus!): Pet\n');
    expect(sdl).toContain('label: String!');
    expect(sdl).toContain('length: Int!');
  });
});
