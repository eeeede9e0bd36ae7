import DataLoader from 'dataloader';
import type { PetStoreContext } from 'petstore-gateway/schema';

/** A category, as the service returns it. An id beyond 2^53 is a bigint. */
export interface Category {
  readonly id: number | bigint;
  readonly name: string;
}

type Calls = PetStoreContext['petStore'];
const loaders = new WeakMap<Calls, DataLoader<string, Category | null>>();

/** Returns the loader of a request: one call for the categories of all its pets. */
export function categoriesOf(petStore: Calls): DataLoader<string, Category | null> {
  let loader = loaders.get(petStore);
  if (loader === undefined) {
    loader = new DataLoader(async (ids) => {
      const found = await petStore.rest.get('/categories', { ids: ids.join() });
      const byId = new Map((found as Category[]).map((one) => [String(one.id), one]));
      return ids.map((id) => byId.get(id) ?? null);
    });
    loaders.set(petStore, loader);
  }
  return loader;
}
