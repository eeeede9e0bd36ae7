import { GraphQLError } from 'graphql';
import type { PetStoreCalls } from '../graphql/context.ts';

/** Lists one animal, so that the backend accepts the key. Resolves to the error if it does not. */
export function checkKey(petStore: PetStoreCalls): Promise<GraphQLError | undefined> {
  return petStore.listPets({ limit: 1 }, '__schema').then(
    () => undefined,
    (originalError: Error) => new GraphQLError(originalError.message, { originalError }),
  );
}
