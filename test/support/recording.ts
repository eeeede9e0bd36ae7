import { type OperationId, operations, type PetStore } from '../../src/contract/pet-store.ts';

/** Wraps a pet store and records the operations that are called, with their arguments. */
export function recording(petStore: PetStore): { petStore: PetStore; calls: string[] } {
  const calls: string[] = [];
  const recorder = { ...petStore };
  for (const operation of Object.keys(operations) as OperationId[]) {
    const original = petStore[operation] as (...args: unknown[]) => Promise<never>;
    recorder[operation] = (_call: unknown, ...args: unknown[]) => {
      calls.push([operation, ...args.map((arg) => JSON.stringify(arg))].join(' '));
      return original(_call, ...args);
    };
  }
  return { petStore: recorder, calls };
}
