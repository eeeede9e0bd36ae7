import { isUtf8 } from 'node:buffer';
import { decodeNewRecord } from '../../contract/codec.ts';
import { int64 } from '../../contract/fields.ts';
import { decodeUtf8 } from '../../contract/json.ts';
import { readJson, readJsonText } from '../../contract/response-json.ts';
import { type RecordTable, requireStorable } from './table.ts';

/** Returns the error for a line that cannot be imported, which ends the whole import. */
export function importError(lineNumber: number, reason: string): Error {
  return new Error(`Line ${lineNumber}: ${reason} Nothing was imported.`);
}

/** A kind of record that can be imported and exported as JSON Lines: with fields, or opaque. */
export type RecordKind = RecordTable | 'document';

/** The columns of a line, with its id if it has one. */
export type Row = Readonly<Record<string, bigint | number | string | null>>;

/** Maximum length of a line in bytes. The longest name, escaped, needs less than half of it. */
export const maxLineBytes = 16 * 1024;

/** Maximum id of an imported record that the database can assign, which leaves as many for new records. */
const maxId = 2n ** 62n;

/**
 * Decodes one line; returns undefined for a blank one.
 * @throws an error with the number of the line and the reason.
 */
export function decodeLine(kind: RecordKind, line: Buffer, lineNumber: number): Row | undefined {
  try {
    if (line.byteLength > maxLineBytes) throw new Error(`expected at most ${maxLineBytes} bytes.`);
    if (!isUtf8(line)) throw new Error('expected UTF-8.');
    const text = decodeUtf8(line).trim();
    return text === '' ? undefined : decodeText(kind, text);
  } catch (error) {
    const { message, cause } = error as Error;
    throw importError(lineNumber, cause instanceof SyntaxError ? 'expected JSON.' : message);
  }
}

function decodeText(kind: RecordKind, text: string): Row {
  if (kind === 'document') return { document: readJsonText(text).text };
  const json = readJson(text);
  const record = decodeNewRecord(kind.record, json);
  kind.requireStorable(record);
  // It may be misspelled, and its value would be lost.
  const { fields } = kind.record;
  const unknown = Object.keys(json as object).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    const known = Object.keys(fields).join(', ');
    const received = JSON.stringify(unknown.slice(0, 60));
    throw new Error(`expected only the fields ${known}, received ${received}.`);
  }
  return { ...decodeId(kind, json as Row), ...kind.toRow(record) };
}

/** Decodes an id that the service assigns: the database can do so only if it is an int64. */
function decodeId({ record, id: { name, kind, column } }: RecordTable, json: Row): Row {
  if (!record.id.isAssigned || (kind === int64 && json[name] === undefined)) return {};
  const id = kind.parse(json[name]) as string | undefined;
  if (id === undefined || (kind === int64 && BigInt(id) > maxId)) {
    const expected = kind === int64 ? 'an integer up to 2^62, or no id' : kind.expected;
    throw new Error(`${name}: expected ${expected}.`);
  }
  if (kind === int64) return { [column]: BigInt(id) };
  requireStorable(name, id);
  return { [column]: id };
}
