import {
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';

describe('the schema', () => {
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
