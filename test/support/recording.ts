import type { PetStore } from '../../src/contract/pet-store.ts';

/** A pet store that writes down which operations reach it, arguments and all, and passes them on. */
export function recording(petStore: PetStore): { petStore: PetStore; calls: string[] } {
  const calls: string[] = [];
  const noting = { ...petStore };
  for (const operation of [
    'listPets',
    'createPet',
    'getPet',
    'listOrders',
    'sendMessage',
  ] as const) {
    const original = petStore[operation] as (...args: unknown[]) => Promise<never>;
    noting[operation] = (_call: unknown, ...args: unknown[]) => {
      calls.push([operation, ...args.map((arg) => JSON.stringify(arg))].join(' '));
      return original(_call, ...args);
    };
  }
  return { petStore: noting, calls };
}
