import { isUtf8 } from 'node:buffer';
import { decodeNewPet, decodeOrders } from '../../contract/decode.ts';
import { parseInt64 } from '../../contract/int64.ts';
import { decodeUtf8, parseJson } from '../../contract/json.ts';
import { toPetRow, whyNotStorable } from './rows.ts';

/** A line of an import that can't be taken in; nothing of the whole import remains. */
export class ImportError extends Error {
  override readonly name = 'ImportError';

  constructor(lineNumber: number, reason: string) {
    super(`Line ${lineNumber}: ${reason} Nothing was imported.`);
  }
}

/** What can be imported and exported, one JSON value a line (JSON Lines). */
export type Kind = 'pets' | 'orders';

/** A line of an import: text, or bytes that should be UTF-8. */
export type Line = string | Buffer;

/** What a line becomes: a row of `pets` or `orders`, with the id that it brings along. */
export type Row = { readonly id?: bigint } & (
  | ReturnType<typeof toPetRow>
  | { readonly document: string }
);

/** The most that a line may hold, in bytes. The longest name, escaped, takes less than half of it. */
export const maxLineBytes = 16 * 1024;

/** Ids above leave no room for those that the database gives to new records. */
const maxId = 2n ** 62n;

/**
 * Reads one line; undefined when it is blank.
 * @throws ImportError with the number of the line and what is wrong with it.
 */
export function decodeLine(kind: Kind, line: Line, lineNumber: number): Row | undefined {
  try {
    const text = textOf(line);
    return text === '' ? undefined : decodeText(kind, text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'expected JSON.' : (error as Error).message;
    throw new ImportError(lineNumber, reason);
  }
}

function textOf(line: Line): string {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line;
  if (bytes.byteLength > maxLineBytes) throw new Error(`expected at most ${maxLineBytes} bytes.`);
  if (!isUtf8(bytes)) throw new Error('expected UTF-8.');
  return decodeUtf8(bytes).trim();
}

function decodeText(kind: Kind, text: string): Row {
  const json = parseJson(text);
  if (kind === 'orders') {
    decodeOrders(json);
    return { document: text };
  }
  const pet = decodeNewPet(json);
  const reason = whyNotStorable('name', pet.name) ?? whyUnknown(json as object);
  if (reason !== undefined) throw new Error(reason);
  return { ...decodeId(json), ...toPetRow(pet) };
}

/** A field that is not known may be one that was misspelt, whose value would be lost. */
function whyUnknown(json: object): string | undefined {
  const unknown = Object.keys(json).find((name) => !fields.has(name));
  if (unknown === undefined) return undefined;
  return `${JSON.stringify(unknown.slice(0, 60))}: expected no field but ${[...fields].join(', ')}.`;
}

const fields = new Set(['id', 'name', 'categoryId', 'status']);

function decodeId(json: unknown): { id?: bigint } {
  const { id } = json as { id?: unknown };
  if (id === undefined) return {};
  const int64 = typeof id === 'string' ? undefined : parseInt64(id);
  if (int64 !== undefined && BigInt(int64) <= maxId) return { id: BigInt(int64) };
  throw new Error('id: expected an integer up to 2^62, or no id at all.');
}
