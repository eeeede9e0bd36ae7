import { setImmediate } from 'node:timers/promises';
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
import { fuzzed, fuzzTimeout } from '../support/fuzzed.ts';
import { expectSameResult, written } from './differential.ts';
import { generateOperation, generateVariables } from './generate-operation.ts';
import { type Calls, generateFrom, generateSchema } from './generate-schema.ts';

/** Generated operations declare all variables and fragments, used or not. */
const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedVariablesRule && rule !== NoUnusedFragmentsRule,
);

it(
  'executes operations on generated schemas like graphql-js, and resolves no root field twice',
  async () => {
    const counts = { compared: 0, withErrors: 0, disabled: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2 ** 31 - 1 }), async (seed) => {
        const generate = generateFrom(seed);
        const schema = generateSchema(generate);
        const text = generateOperation(generate, schema);
        const document = parse(text);
        fc.pre(validate(schema, document, rules).length === 0);
        const variables = generateVariables(generate);
        const compiled = compileOperation(schema, document, undefined);
        const expected: Calls = [];
        // graphql-js never finishes if `data` gets a function named `then`: skip these operations.
        const fallback = await Promise.race([
          execute({
            schema,
            document,
            contextValue: { calls: expected },
            variableValues: variables,
          }),
          setImmediate(undefined),
        ]);
        fc.pre(fallback !== undefined);
        const own: Calls = [];
        const result = await compiled?.({ calls: own }, variables);
        if (compiled === undefined || result === undefined) return;
        counts.compared++;
        if (fallback.errors) counts.withErrors++;
        expectSameResult(result, fallback, text);
        expect(own.map(written).sort(), text).toEqual(expected.map(written).sort());
        // Run again: the compiled function must not keep state, unless it was disabled.
        const again = await compiled({ calls: [] }, variables);
        if (again === undefined) counts.disabled++;
        else expectSameResult(again, fallback, text);
      }),
      fuzzed(300),
    );
    expect(counts.compared).toBeGreaterThan(150);
    expect(counts.withErrors).toBeGreaterThan(50);
    expect(counts.disabled).toBeGreaterThan(15);
  },
  fuzzTimeout,
);
