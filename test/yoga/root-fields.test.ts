import { getOperationAST, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { countRootFields } from '../../src/yoga/prepared-operation.ts';

describe('the root fields of an operation', () => {
  it.each([
    ['{ pets { id } }', 1],
    ['{ pets { id } orders __typename }', 2],
    ['{ a: pets(limit: 1) { id } b: pets(limit: 1) { name } }', 2],
    ['{ ...f b: orders } fragment f on Query { a: orders @include(if: true) }', 2],
    ['{ a: orders @skip(if: true) b: orders @include(if: false) }', 0],
    ['{ a: pets { id } ... on Query { a: pets { name } } }', 1],
  ])('of %s are counted', (text, count) => {
    const document = parse(text);
    const operation = getOperationAST(document) as OperationDefinitionNode;
    expect(countRootFields(operation, document)).toBe(count);
  });
});
