import { GraphQLError } from 'graphql';
import type { PetStoreCalls } from '../../graphql/context.ts';
import type { ApiKey } from '../../limits/api-key.ts';
import type { PreparedOperation } from './prepared-document.ts';

/** Who may introspect: everyone, nobody, or callers whose key the backend has accepted. */
export type Introspection = boolean | 'keys';

/** Whether the key of an operation has to be checked before it is executed. */
export function mustCheckKey(
  introspection: Introspection,
  { isIntrospection }: PreparedOperation,
  key: ApiKey,
): boolean {
  return introspection === 'keys' && isIntrospection && !key.isAccepted;
}

/** Lists one animal, so that the backend accepts the key. Resolves to the error if it does not. */
export async function checkKey(petStore: PetStoreCalls): Promise<GraphQLError | undefined> {
  try {
    await petStore.listPets({ limit: 1 }, '__schema');
    return undefined;
  } catch (error) {
    const originalError = error as Error;
    return new GraphQLError(originalError.message, { originalError });
  }
}
