import { readFile } from 'node:fs/promises';

/** The text files that the gateway serves or reads, from `schema/` and Swagger UI. */
export const assetNames = [
  'graphiql/calls.js',
  'graphiql/controls.html',
  'graphiql/controls.js',
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

/** The name of an asset. */
export type AssetName = (typeof assetNames)[number];

/** Returns the location of an asset in a checkout. */
export function locateAsset(name: AssetName): URL {
  const specifier = name.startsWith('swagger-ui')
    ? `swagger-ui-dist/${name}`
    : `../../schema/${name}`;
  return new URL(import.meta.resolve(specifier));
}

/** Reads an asset. The build replaces this module with one that embeds the texts. */
export function readAsset(name: AssetName): Promise<string> {
  return readFile(locateAsset(name), 'utf8');
}
