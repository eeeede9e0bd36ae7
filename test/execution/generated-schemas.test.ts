import fc from 'fast-check';
import {
  execute,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { expect, it } from 'vitest';
import { compileOperation } from '../../src/execution/compile.ts';
import { comparable, fuzzed, fuzzTimeout, written } from './differential.ts';
import { generateOperation, generateVariables } from './generate-operation.ts';
import { type Calls, generateFrom, generateSchema } from './generate-schema.ts';

/** Every operation declares all variables and all fragments, whether it uses them or not. */
const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedVariablesRule && rule !== NoUnusedFragmentsRule,
);

it(
  'answers on generated schemas as graphql-js does, and resolves no root field twice',
  async () => {
    const seen = { compared: 0, withErrors: 0, givenUp: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2 ** 31 - 1 }), async (seed) => {
        const generate = generateFrom(seed);
        const schema = generateSchema(generate);
        const text = generateOperation(generate, schema);
        const document = parse(text);
        fc.pre(validate(schema, document, rules).length === 0);
        const variables = generateVariables(generate);
        const compiled = compileOperation(schema, document, undefined);
        const own: Calls = [];
        const result = await compiled?.({ calls: own }, variables);
        if (compiled === undefined || result === undefined) return;
        const expected: Calls = [];
        const fallback = await execute({
          schema,
          document,
          contextValue: { calls: expected },
          variableValues: variables,
        });
        seen.compared++;
        if (fallback.errors) seen.withErrors++;
        expect(comparable(result), text).toEqual(comparable(fallback));
        expect(own.map(written).sort(), text).toEqual(expected.map(written).sort());
        // Once more: the compiled function may have been given up, and must not have kept anything.
        const again = await compiled({ calls: [] }, variables);
        if (again === undefined) seen.givenUp++;
        else expect(comparable(again), text).toEqual(comparable(fallback));
      }),
      fuzzed(300),
    );
    expect(seen.compared).toBeGreaterThan(150);
    expect(seen.withErrors).toBeGreaterThan(50);
    expect(seen.givenUp).toBeGreaterThan(15);
  },
  fuzzTimeout,
);
