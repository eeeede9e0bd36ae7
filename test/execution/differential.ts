import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  experimentalExecuteIncrementally,
} from 'graphql';
import { expect } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import { compileOperation } from '../../src/execution/compile.ts';
import { typedError } from '../../src/graphql/errors.ts';
import { internalError } from '../../src/http/error.ts';
import { PetStoreCalls } from '../../src/petstore/graphql/calls.ts';
import { schema } from '../../src/petstore/graphql/schema.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import { callWith } from '../support/gateway.ts';

/** A store that returns these results, and a record of its calls. */
export function storeOf(results: Record<string, unknown>) {
  const calls: unknown[] = [];
  const petStore = Object.fromEntries(
    Object.entries(results).map(([name, result]) => [
      name,
      async (_call: unknown, parameters: unknown) => {
        calls.push([name, parameters]);
        if (result instanceof Error) throw result;
        return result;
      },
    ]),
  ) as unknown as PetStore;
  const context = { petStore: new PetStoreCalls(callWith('key-of-a-test'), petStore) };
  return { calls, context };
}

/**
 * Executes an operation with compiled code and with graphql-js, for a store with these results, and
 * expects the same of both. @returns whether the result has errors; undefined if it is not compiled.
 */
export async function compareExecutors(
  document: DocumentNode,
  variableValues: Record<string, unknown>,
  results: Record<string, unknown>,
): Promise<boolean | undefined> {
  const fallback = storeOf(results);
  const contextValue = fallback.context;
  const expected = await executeFallback({ schema, document, contextValue, variableValues });
  const own = storeOf(results);
  const compiled = compileOperation(schema, document);
  // Code is generated at the second use.
  compiled?.(own.context, variableValues);
  const result = await compiled?.(own.context, variableValues);
  if (result === undefined) return undefined;
  expect(comparable(result)).toEqual(comparable(expected));
  expect(own.calls).toEqual(fallback.calls);
  return expected.errors !== undefined;
}

/** Executes an operation without `@defer` with graphql-js. */
async function executeFallback(args: ExecutionArgs): Promise<ExecutionResult> {
  return (await experimentalExecuteIncrementally(args)) as ExecutionResult;
}

/**
 * Everything that two executors must agree on: the serialised data, and the message, path,
 * locations and typed form of each error. Errors are sorted because fields run concurrently.
 */
function comparable({ data, errors = [] }: ExecutionResult) {
  const described = errors.map((error) => {
    const { message, path, locations, extensions } = error;
    const causes: unknown[] = [];
    const reportError = (cause: unknown) => {
      causes.push(String(cause));
      return internalError();
    };
    const typed = typedError(error, {
      scope: { requestId: 'test' },
      report: { isMutation: false },
      reportError,
    });
    return written({ message, path, locations, extensions, typed, causes });
  });
  return { data: written(data), errors: described.sort() };
}

/** Serialises a value as JSON, including undefined members. */
function written(value: unknown): string | undefined {
  return JSON.stringify(value, (_, item) => {
    if (item instanceof JsonText) return JSON.parse(item.text);
    return item === undefined ? 'undefined' : item;
  });
}
