import { readdir, readFile } from 'node:fs/promises';

/** The texts that the gateway reads beside the operations, from `schema/` and Swagger UI. */
export const assetNames = [
  'fragments/pet-fields.graphql',
  'graphiql/calls.js',
  'graphiql/controls.html',
  'graphiql/controls.js',
  'graphiql/only.html',
  'graphiql/page.css',
  'graphiql/page.js',
  'graphiql/paw.svg',
  'openapi.yaml',
  'reference/page.css',
  'reference/page.html',
  'reference/page.js',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
] as const;

/** The name of an asset. */
export type AssetName = (typeof assetNames)[number] | `operations/${string}.graphql`;

/** Returns the files of `schema/operations/`. */
export async function listOperations(): Promise<string[]> {
  const files = await readdir(new URL('../../schema/operations', import.meta.url));
  return files.toSorted();
}

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
