import { readdir, readFile } from 'node:fs/promises';

/** Returns the files of a folder of `schema/`. */
export async function listAssets(folder: 'operations' | 'fragments'): Promise<string[]> {
  const files = await readdir(new URL(`../../schema/${folder}`, import.meta.url));
  return files.toSorted();
}

/** Returns the location of a text in `schema/`, or of a file of Swagger UI. */
export function locateAsset(name: string): URL {
  const specifier = name.startsWith('swagger-ui')
    ? `swagger-ui-dist/${name}`
    : `../../schema/${name}`;
  return new URL(import.meta.resolve(specifier));
}

/**
 * Returns a function that imports GraphiQL, which is located at once: if Node first looks for a package
 * while npm installs it, it may never find its content.
 */
export function locateGraphiql(): () => Promise<Graphiql> {
  const url = import.meta.resolve('@graphql-yoga/render-graphiql/graphiql');
  return () => import(url);
}

/** The scripts and styles of GraphiQL. */
export type Graphiql = typeof import('@graphql-yoga/render-graphiql/graphiql');

/** Reads the text of an asset. The build replaces this module with one that embeds the texts. */
export function readAsset(name: string): Promise<string> {
  return readFile(locateAsset(name), 'utf8');
}
