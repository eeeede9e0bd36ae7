import { expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';

it('gives the removal date of the deprecated field and its replacement', () => {
  expect(schema.getQueryType()?.getFields()['pet']?.deprecationReason).toMatch(
    /removed on 2030-12-05; use pets\(status:\)/,
  );
});
