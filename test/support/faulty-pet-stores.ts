import { CancelledError, ErrorResponse } from '../../src/contract/error.ts';
import type { PetStore } from '../../src/contract/pet-store.ts';

/** A pet store whose `listOrders` fails with 503. All other calls work. */
export function withoutOrders(petStore: PetStore): PetStore {
  return {
    ...petStore,
    listOrders: () => Promise.reject(new ErrorResponse(503, 'The pet store responded with 503.')),
  };
}

/**
 * A pet store whose `listPets` never resolves. `called` resolves when it is called, and `ended` when
 * the call is aborted, for example because the client disconnected.
 */
export function hanging(petStore: PetStore) {
  const called = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const store: PetStore = {
    ...petStore,
    listPets: ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new CancelledError());
          ended.resolve();
        });
        called.resolve();
      }),
  };
  return { petStore: store, called: called.promise, ended: ended.promise };
}
