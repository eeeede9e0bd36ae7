import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { openDatabase } from '../src/backends/builtin/database.ts';
import { readingChecks } from '../src/conformance/reading.ts';
import { writingChecks } from '../src/conformance/writing.ts';
import { schema } from '../src/graphql/schema.ts';
import { createLog } from '../src/telemetry/log.ts';
import type { Sources } from './declarations.ts';

const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** Reads what this checkout declares. */
export async function readSources(): Promise<Sources> {
  const log = createLog('silent', process.stderr);
  await using database = await openDatabase(':memory:', log);
  const tables = await database.introspection.getTables();
  const pets = tables.find(({ name }) => name === 'pets');
  return {
    openApi: parse(await read('openapi.yaml')),
    schema,
    documents: [...(await readAll('fragments')), ...(await readAll('operations'))].join('\n'),
    columns: pets?.columns.map(({ name }) => name) ?? [],
    rules: [...readingChecks, ...writingChecks].map(({ rule }) => rule),
  };
}

async function readAll(folder: string): Promise<string[]> {
  const files = await readdir(new URL(folder, import.meta.url));
  return Promise.all(files.map((file) => read(`${folder}/${file}`)));
}
