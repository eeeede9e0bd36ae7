import { sql } from 'kysely';
import { ErrorResponse } from '../../contract/error.ts';
import { type Field, int64, type Kind } from '../../contract/fields.ts';
import type { Fields, NewRecordOf, RecordOf, RecordType } from '../../contract/record.ts';

/** The column of a field: `ownerId` is stored in `owner_id`. */
type Column<Name> = Name extends `${infer Prefix}Id` ? `${Prefix}_id` : Name;

/** A row of a table of records, without an assigned id. */
export type RowOf<Of extends Fields> = Record<
  Column<Extract<keyof NewRecordOf<Of>, string>>,
  bigint | string | null
>;

const columnTypes = {
  int64: 'bigint',
  text: 'text',
  enumeration: 'text',
} as const satisfies Record<Kind['name'], string>;

/** The columns of records, and how their rows become records and lines of a file. */
export type RecordTable<Of extends Fields = Fields> = ReturnType<typeof createTable<Of>>;

/** Derives the table of a record, whose service assigns at most the id. */
export function createTable<Of extends Fields>(type: RecordType<Of>) {
  const fields: readonly Field[] = Object.values(type.fields);
  const toColumn = ({ name, kind }: Field) => ({
    name,
    kind,
    column: columnOf(name),
    type: columnTypes[kind.name] as string,
  });
  /** All but an assigned id. */
  const columns = fields.filter(({ isAssigned }) => !isAssigned).map(toColumn);
  return {
    record: type,
    id: toColumn(type.id),
    columns,
    /** Selects the columns under the names of the fields. */
    selected: fields.map(({ name }) => sql.ref(columnOf(name)).as(name)),
    /** Converts a row of `selected`. */
    toRecord: (row: { readonly [field: string]: unknown }): RecordOf<Of> =>
      type.map<unknown, unknown>(row as object, fromColumn) as RecordOf<Of>,
    /** Converts a new record to a row without an assigned id. */
    toRow(record: NewRecordOf<Of>): RowOf<Of> {
      const row: Record<string, unknown> = {};
      for (const { name, kind, column } of columns) {
        const value = (record as Readonly<Record<string, unknown>>)[name] ?? null;
        row[column] = kind === int64 && value !== null ? BigInt(value as string) : value;
      }
      return row as RowOf<Of>;
    },
    /** Requires that the texts of a new record can be stored; see `requireStorable`. */
    requireStorable(record: NewRecordOf<Of>): void {
      const values = record as Readonly<Record<string, unknown>>;
      for (const { name, kind } of columns) {
        if (kind.name === 'text') requireStorable(name, String(values[name] ?? ''));
      }
    },
  };
}

function columnOf<const Name extends string>(name: Name): Column<Name> {
  return name.replace(/Id$/, '_id') as Column<Name>;
}

function fromColumn(value: unknown, { kind }: Field): unknown {
  if (value == null) return undefined;
  return kind === int64 ? String(value) : value;
}

/**
 * Requires that a text can be stored. The contract specifies no maximum length, in UTF-16 code units,
 * so it is our own. A page of the longest names, escaped, is smaller than a megabyte.
 * @throws ErrorResponse 400 if it is too long, or if a database would change or refuse it.
 */
export function requireStorable(field: string, text: string, maxLength = 1000): void {
  const isStorable = text.isWellFormed() && !text.includes('\0');
  if (text.length <= maxLength && isStorable) return;
  const message =
    text.length > maxLength
      ? `${field}: expected at most ${maxLength} characters, received ${text.length}.`
      : `${field}: expected text without NUL characters or lone surrogates.`;
  throw ErrorResponse.of({ code: 'invalid_value', message, status: 400 });
}
