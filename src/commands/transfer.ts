import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Administration, maxLineBytes } from '../backends/open.ts';
import type { Outcome } from './administer.ts';

/** Shows how far a transfer is: how many records, and what part of the input where that is known. */
export type ShowProgress = (records: number, part: number | undefined) => void;

/**
 * Imports JSON Lines from a file, or from `input` when the path is `-`, all or nothing.
 * @throws ImportError that names the first bad line; the system's error when there is no such file.
 */
export async function importFrom(
  administration: Administration,
  kind: string,
  path: string,
  input: Readable,
  showProgress: ShowProgress,
): Promise<Outcome> {
  const file = path === '-' ? undefined : await stat(path);
  if (file?.isDirectory()) throw new Error(`${path}: expected a file, received a folder.`);
  const size = file?.size;
  const source = path === '-' ? input : createReadStream(path);
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  const records = await administration.importLines(kindOf(kind), linesOf(counted()), (count) =>
    showProgress(count, size === undefined ? undefined : bytes / size),
  );
  return { text: `${records} ${kind} imported.\n`, json: { kind, imported: records } };
}

/** Writes all records of a kind to `output` as JSON Lines. */
export async function exportTo(
  administration: Administration,
  kind: string,
  output: Writable,
): Promise<undefined> {
  await pipeline(administration.exportLines(kindOf(kind)), output, { end: false });
}

/** A progress line on a terminal, rewritten in place; nothing anywhere else. */
export function progressOn(terminal: Writable & { readonly isTTY?: boolean }): ShowProgress {
  if (!terminal.isTTY) return () => {};
  return (records, part) => {
    const filled = Math.round((part ?? 0) * 30);
    const bar = part === undefined ? '' : `[${'#'.repeat(filled).padEnd(30)}] `;
    terminal.write(`\r${bar}${records.toLocaleString('en')} records${part === 1 ? '\n' : ''}`);
  };
}

/** The command line has checked the word. */
function kindOf(kind: string): 'pets' | 'orders' {
  return kind === 'orders' ? 'orders' : 'pets';
}

/**
 * Only a newline ends a line: JSON strings may hold Unicode's other separators, unlike readline's. Of
 * a line that is too long, so much is passed on that it is refused.
 */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const part = chunk.subarray(start, end);
      yield rest.byteLength === 0 ? part : Buffer.concat([rest, part]);
      rest = Buffer.alloc(0);
      start = end + 1;
    }
    if (start < chunk.byteLength) rest = Buffer.concat([rest, chunk.subarray(start)]);
    if (rest.byteLength > maxLineBytes) yield rest;
  }
  yield rest;
}
