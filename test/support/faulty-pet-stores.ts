import { ErrorResponse } from '../../src/contract/error.ts';
import type { PetStore } from '../../src/petstore/operations.ts';

/** A pet store whose `listOrders` fails with 503. All other calls work. */
export function withoutOrders(petStore: PetStore): PetStore {
  return {
    ...petStore,
    listOrders: () => Promise.reject(new ErrorResponse(503, 'The pet store responded with 503.')),
  };
}
