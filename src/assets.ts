import { readFile } from 'node:fs/promises';

/** The texts that the gateway serves or reads: files of `schema/`, and of Swagger UI. */
export const assetNames = [
  'graphiql/only.html',
  'graphiql/page.css',
  'graphiql/page.js',
  'graphiql/paw.svg',
  'openapi.yaml',
  'operations/add-pet.graphql',
  'operations/deferred-storefront.graphql',
  'operations/get-pet.graphql',
  'operations/list-orders.graphql',
  'operations/list-pets.graphql',
  'operations/send-message.graphql',
  'operations/storefront.graphql',
  'reference/page.css',
  'reference/page.html',
  'reference/page.js',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
] as const;

/** The name of a text. */
export type AssetName = (typeof assetNames)[number];

/** Where a text is in a checkout. */
export function locateAsset(name: AssetName): URL {
  const place = name.startsWith('swagger-ui') ? `swagger-ui-dist/${name}` : `../schema/${name}`;
  return new URL(import.meta.resolve(place));
}

/** Reads a text. The build replaces this module by one that imports the texts: no files are read. */
export function readAsset(name: AssetName): Promise<string> {
  return readFile(locateAsset(name), 'utf8');
}
