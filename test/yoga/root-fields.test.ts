import { getOperationAST, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { rootFieldsOf } from '../../src/yoga/root-fields.ts';

describe('the root fields of an operation', () => {
  it.each([
    ['{ pets { id } }', 1, false],
    ['{ pets { id } orders __typename }', 2, false],
    ['{ a: pets(limit: 1) { id } b: pets(limit: 2) { id } }', 2, false],
    [
      '{ a: pets(limit: 1, status: sold) { id } b: pets(limit: 1, status: pending) { id } }',
      2,
      false,
    ],
    ['{ a: pets(limit: 1) { id } b: pets(limit: 1) { name } }', 2, true],
    ['{ a: pets(limit: 20) { id } b: pets { name } }', 2, true],
    ['{ a: pets(limit: null) { id } b: pets(limit: 20) { name } }', 2, true],
    ['{ a: pet(id: 1) { id } b: pet(id: "1") { name } }', 2, true],
    ['query ($n: Int) { a: pets(limit: $n) { id } b: pets(limit: 2) { id } }', 2, true],
    ['{ ...f b: orders } fragment f on Query { a: orders @include(if: true) }', 2, true],
    ['{ a: orders @skip(if: true) b: orders @include(if: false) }', 0, false],
    ['{ a: pets { id } ... on Query { a: pets { name } } }', 1, false],
  ])('of %s are counted, and compared', (text, count, mayBeEqual) => {
    const document = parse(text);
    const operation = getOperationAST(document) as OperationDefinitionNode;
    expect(rootFieldsOf(operation, document)).toEqual({ count, mayBeEqual });
  });
});
