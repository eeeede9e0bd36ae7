import { ErrorResponse } from '../../src/contract/error.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';

/** A pet store that answers every call for orders with 503, and the rest as before. */
export function withoutOrders(petStore: PetStore): PetStore {
  return {
    ...petStore,
    listOrders: () => Promise.reject(new ErrorResponse(503, 'The pet store answered 503.')),
  };
}

/**
 * A pet store whose list never comes. `asked` resolves when it is asked for, `ended` when the call
 * was aborted, which is what a client that leaves brings about.
 */
export function hanging(petStore: PetStore) {
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const store: PetStore = {
    ...petStore,
    listPets: ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason);
          ended.resolve();
        });
        asked.resolve();
      }),
  };
  return { petStore: store, asked: asked.promise, ended: ended.promise };
}
