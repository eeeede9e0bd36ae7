import {
  buildSchema,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { createSchema, schema } from '../../src/graphql/schema.ts';

/** The promised schema, without descriptions. */
const promised = `
  directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
  scalar DateTime
  scalar JSON
  type Query {
    pets(limit: Int = 20, status: PetStatus): [Pet!]
    pet(id: ID!): Pet @deprecated
    orders: JSON
  }
  type Mutation {
    addPet(input: AddPetInput!): Pet
    sendMessage(message: String!): Message
  }
  type Pet { id: ID! name: String! categoryId: ID! status: PetStatus }
  input AddPetInput { name: String! categoryId: ID! status: PetStatus }
  enum PetStatus { available pending sold }
  type Message { id: ID! message: String! status: String! createdAt: DateTime! }
`;

describe('the schema', () => {
  it('has exactly the promised shape', () => {
    // Without stability markers, which do not change the shape.
    expect(shapeOf(printSchema(createSchema({})))).toBe(shapeOf(promised));
  });

  it('gives the removal date of the deprecated field and its replacement', () => {
    expect(schema.getQueryType()?.getFields()['pet']?.deprecationReason).toMatch(
      /removed on 2030-12-05; use pets\(status:\)/,
    );
  });

  it('describes every type, field, argument and enum value', () => {
    const undescribed = Object.values(schema.getTypeMap())
      .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
      .flatMap(undescribedParts);
    expect(undescribed).toEqual([]);
    expect(schema.description).toContain('Authorization: Bearer');
  });
});

function shapeOf(sdl: string): string {
  const sorted = printSchema(lexicographicSortSchema(buildSchema(sdl)));
  return print(
    visit(parse(sorted, { noLocation: true }), {
      enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
      Directive: (node) => ({ ...node, arguments: [] }),
      // Printed only because the schema has a description.
      SchemaDefinition: () => null,
    }),
  );
}

function undescribedParts(type: GraphQLNamedType): string[] {
  const parts: [string, string | null | undefined][] = [[type.name, type.description]];
  if (isEnumType(type)) {
    for (const value of type.getValues()) parts.push([value.name, value.description]);
  }
  if (isObjectType(type) || isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) {
      parts.push([`${type.name}.${field.name}`, field.description]);
      for (const argument of 'args' in field ? field.args : []) {
        parts.push([
          `${field.name}(${argument.name}: ${getNamedType(argument.type)})`,
          argument.description,
        ]);
      }
    }
  }
  return parts.filter(([, description]) => !description).map(([name]) => name);
}
