import type { PetStore } from '../../src/contract/pet-store.ts';
import { createContext } from '../../src/graphql/context.ts';

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
  const context = createContext({
    petStore,
    authorization: 'Bearer key-of-a-test',
    key: 0,
    requestId: 'test',
    signal: new AbortController().signal,
  });
  return { calls, context };
}
