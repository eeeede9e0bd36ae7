import { createGateway, createLazyGateway, type LazyGateway, loadConfig } from 'petstore-gateway';

declare global {
  var petstore: LazyGateway | undefined;
}

globalThis.petstore ??= createLazyGateway(() => createGateway(loadConfig(process.env)));

/** Shared by all pages and routes, even when `next dev` loads this module again. */
export const gateway = globalThis.petstore;
