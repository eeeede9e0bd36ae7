import { type OperationId, operations, type PetStore } from '../../src/petstore/operations.ts';

/** Wraps a pet store and records the operations that are called, with their parameters. */
export function recording(petStore: PetStore): { petStore: PetStore; calls: string[] } {
  const calls: string[] = [];
  const recorder = { ...petStore };
  for (const operation of Object.keys(operations) as OperationId[]) {
    const original = petStore[operation] as (...args: unknown[]) => Promise<never>;
    recorder[operation] = (call: unknown, parameters?: unknown) => {
      calls.push(`${operation} ${JSON.stringify(parameters) ?? ''}`.trimEnd());
      return original(call, parameters);
    };
  }
  return { petStore: recorder, calls };
}
