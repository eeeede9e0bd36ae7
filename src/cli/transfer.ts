import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Administration, backUp, maxLineBytes } from '../backends/open.ts';
import type { Environment } from '../config/environment.ts';
import { type CommandResult, readBuiltinConfig } from './administer.ts';

/** Shows the progress of a command: the records or megabytes, and the fraction of all if known. */
export type ShowProgress = (count: number, part: number | undefined) => void;

/**
 * Imports JSON Lines from a file, or from `input` if the path is `-`. It imports all lines or none.
 * @throws an error with the number of the first invalid line; the system error if there is no such
 *   file.
 */
export async function importFrom(
  administration: Administration,
  kind: 'pets' | 'orders',
  path: string,
  input: Readable,
  showProgress: ShowProgress,
): Promise<CommandResult> {
  const file = path === '-' ? undefined : await stat(path);
  if (file?.isDirectory()) throw new Error(`${path}: expected a file, received a directory.`);
  const source = file ? createReadStream(path) : undefined;
  const records = await administration.importLines(kind, linesOf(source ?? input), (count) =>
    showProgress(count, file && source && source.bytesRead / file.size),
  );
  const noun = records === 1 ? kind.slice(0, -1) : kind;
  return { text: `Imported ${records} ${noun}.\n`, json: { kind, imported: records } };
}

/** Undoes the migrations after `to`. Without it, there is nothing to do: opening the database migrated it. */
export async function migrateTo(
  administration: Administration,
  { to }: { readonly to?: string },
): Promise<CommandResult> {
  if (to === undefined) return { text: 'The database is up to date.\n', json: { upToDate: true } };
  await administration.migrateTo(to);
  return { text: `The database is at the migration ${to}.\n`, json: { migration: to } };
}

/** Exports all records of a kind to `output` as JSON Lines. */
export async function exportTo(
  administration: Administration,
  kind: 'pets' | 'orders',
  output: Writable,
): Promise<undefined> {
  await pipeline(administration.exportLines(kind), output, { end: false });
}

/**
 * Backs up the configured SQLite database to a new file. It does not migrate the database, because one
 * backs up before an upgrade. @throws if there is nothing to back up, or if the file exists.
 */
export async function backUpTo(
  env: Environment,
  file: string,
  showProgress: ShowProgress,
): Promise<CommandResult> {
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  const { databaseUrl } = readBuiltinConfig(env);
  const bytes = await backUp(databaseUrl, file, (written, part) =>
    showProgress(megabytes(written), part),
  );
  const text = `Backed up the database to ${file} (${megabytes(bytes)} MB).\n`;
  return { text, json: { file, bytes } };
}

/** Shows progress as one line that is rewritten in place; shows nothing if there is no terminal. */
export function progressOn(
  terminal: Writable & { readonly isTTY?: boolean },
  unit: 'records' | 'MB',
): ShowProgress {
  if (!terminal.isTTY) return () => {};
  return (count, part) => {
    const filled = Math.round((part ?? 0) * 30);
    const bar = part === undefined ? '' : `[${'#'.repeat(filled).padEnd(30)}] `;
    terminal.write(`\r${bar}${count.toLocaleString('en')} ${unit}${part === 1 ? '\n' : ''}`);
  };
}

/**
 * Splits input into lines at newlines only; `readline` also splits at Unicode separators, which JSON
 * strings may contain. A line that is too long is cut after `maxLineBytes`, and then refused.
 */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      yield rest.subarray(start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.byteLength > maxLineBytes) yield rest;
  }
  yield rest;
}
