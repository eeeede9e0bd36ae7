import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Environment } from '../config/environment.ts';
import { type Administration, backUp, maxLineBytes } from '../petstore/open.ts';
import { type CommandResult, readBuiltinConfig } from './administer.ts';
import { showProgress } from './progress.ts';

export { recordKinds } from '../petstore/records.ts';

/** Imports a file of JSON Lines, or standard input if the path is `-`: all lines or none. */
export async function importFrom(
  administration: Administration,
  kind: string,
  path: string,
): Promise<CommandResult> {
  const file = path === '-' ? undefined : await stat(path);
  if (file?.isDirectory()) throw new Error(`${path}: expected a file, received a directory.`);
  const source: Readable & { bytesRead?: number } = file ? createReadStream(path) : process.stdin;
  const work = administration.importLines(kind, linesOf(source));
  const records = await showProgress(work, () => source.bytesRead ?? 0, file?.size || undefined);
  const noun = records === 1 ? kind.slice(0, -1) : kind;
  return { text: `Imported ${records} ${noun}.\n`, json: { kind, imported: records } };
}

/** Exports all records of a kind to standard output as JSON Lines. */
export async function exportTo(administration: Administration, kind: string): Promise<undefined> {
  let bytes = 0;
  async function* counted(lines: AsyncIterable<string>) {
    for await (const line of lines) {
      bytes += Buffer.byteLength(line);
      yield line;
    }
  }
  const lines = administration.exportLines(kind);
  const work = pipeline(lines, counted, process.stdout, { end: false });
  await (process.stdout.isTTY ? work : showProgress(work, () => bytes));
}

/** Backs up the SQLite database, without migrating it: one backs up before an upgrade. */
export async function backUpTo(env: Environment, file: string): Promise<CommandResult> {
  const { databaseUrl } = readBuiltinConfig(env);
  const bytes = await backUp(databaseUrl, file, showProgress);
  const text = `Backed up the database to ${file} (${Math.round(bytes / 1e3).toLocaleString('en')} kB).\n`;
  return { text, json: { file, bytes } };
}

/** Splits at newlines, but not at the other separators of `readline`, which JSON may contain. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      yield rest.subarray(start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    // This cut line is refused.
    if (rest.byteLength > maxLineBytes) yield rest;
  }
  yield rest;
}
