import { afterAll } from 'vitest';

/** Disposes of a resource after the tests of the calling file or `describe`. @returns the resource. */
export function disposeAfterAll<T extends Disposable | AsyncDisposable>(resource: T): T {
  afterAll(async () => {
    if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
    else resource[Symbol.dispose]();
  });
  return resource;
}

/** Makes the object that it is spread into dispose of these, one after the other. */
export const owning = (...resources: readonly AsyncDisposable[]): AsyncDisposable => ({
  async [Symbol.asyncDispose]() {
    for (const resource of resources) await resource[Symbol.asyncDispose]();
  },
});
