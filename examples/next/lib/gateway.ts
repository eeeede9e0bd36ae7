import { createGateway, createLazyGateway, type LazyGateway, loadConfig } from 'petstore-gateway';

declare global {
  var petstore: LazyGateway | undefined;
}

globalThis.petstore ??= createLazyGateway(() => createGateway(loadConfig(process.env)));

/** One for all pages and routes, also when `next dev` loads this module again. */
export const gateway = globalThis.petstore;
