import {
  type ExecutionArgs,
  type ExecutionResult,
  experimentalExecuteIncrementally,
} from 'graphql';
import { JsonText } from '../../src/contract/json.ts';
import { typedError } from '../../src/graphql/errors.ts';

/** Executes an operation without `@defer` with graphql-js. */
export async function executeFallback(args: ExecutionArgs): Promise<ExecutionResult> {
  return (await experimentalExecuteIncrementally(args)) as ExecutionResult;
}

/**
 * Everything that two executors must agree on: the serialised data, and the message, path,
 * locations and typed form of each error. Errors are sorted because fields run concurrently.
 */
export function comparable({ data, errors = [] }: ExecutionResult) {
  const request = { requestId: 'test', isMutation: false };
  const described = errors.map((error) => {
    const { message, path, locations, extensions } = error;
    const causes: unknown[] = [];
    const typed = typedError(error, request, (cause) => causes.push(String(cause)));
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
