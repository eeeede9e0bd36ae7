import type { PetStore } from '../contract/pet-store.ts';
import type { BuiltinPetStoreOptions } from './builtin/pet-store.ts';
import type { RestPetStoreOptions } from './rest/pet-store.ts';

/** Which backend to open, and how. */
export type BackendOptions =
  | ({ readonly kind: 'builtin' } & BuiltinPetStoreOptions)
  | ({ readonly kind: 'rest' } & RestPetStoreOptions);

/** Opens the backend; only its own modules are loaded. The only place that knows every backend. */
export async function openPetStore(options: BackendOptions): Promise<PetStore> {
  if (options.kind === 'rest') {
    const { openRestPetStore } = await import('./rest/pet-store.ts');
    return openRestPetStore(options);
  }
  const { openBuiltinPetStore } = await import('./builtin/pet-store.ts');
  return openBuiltinPetStore(options);
}
