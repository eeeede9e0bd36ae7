import { readdir, readFile } from 'node:fs/promises';
import type { GraphQLSchema } from 'graphql';
import { parse } from 'yaml';
import { openDatabase } from '../src/backends/builtin/database.ts';
import { store } from '../src/petstore/builtin/store.ts';
import { schema } from '../src/petstore/graphql/schema.ts';
import { createLog } from '../src/telemetry/log.ts';

/** A schema of an OpenAPI document. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/** What has a part for each operation of the contract or each field of its records. */
export interface Sources {
  readonly openApi: {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId?: string }>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
  };
  readonly schema: GraphQLSchema;
  /** The packaged documents, as one text. */
  readonly documents: string;
  /** The columns of all tables after all migrations, such as `the column name of pets`. */
  readonly columns: readonly string[];
}

const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** Reads what this checkout declares. */
export async function readSources(): Promise<Sources> {
  const log = createLog('silent', process.stderr);
  await using database = await openDatabase(':memory:', store, log);
  const tables = await database.introspection.getTables();
  return {
    openApi: parse(await read('openapi.yaml')),
    schema,
    documents: [...(await readAll('fragments')), ...(await readAll('operations'))].join('\n'),
    columns: tables.flatMap(({ name, columns }) =>
      columns.map((column) => `the column ${column.name} of ${name}`),
    ),
  };
}

async function readAll(folder: string): Promise<string[]> {
  const files = await readdir(new URL(folder, import.meta.url));
  return Promise.all(files.map((file) => read(`${folder}/${file}`)));
}
