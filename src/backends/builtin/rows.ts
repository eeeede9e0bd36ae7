import { sql } from 'kysely';
import { ErrorResponse } from '../../contract/error.ts';
import { type Field, int64, type Kind } from '../../contract/fields.ts';
import { mapPet, type NewPet, type Pet, petFields } from '../../contract/records.ts';

/** The column of a field of a pet: `categoryId` is stored in `category_id`. */
type Column<Name extends string> = Name extends `${infer Prefix}Id` ? `${Prefix}_id` : Name;

/** A row of `pets`, without an id. */
export type PetRow = Record<Column<keyof NewPet>, bigint | string | null>;

const columnTypes = {
  int64: 'bigint',
  text: 'text',
  enumeration: 'text',
} as const satisfies Record<Kind['name'], string>;

const { id, ...newPetFields } = petFields;

/** The columns of `pets`, without the id. */
export const petColumns = Object.values(newPetFields).map(({ name, kind }) => ({
  name,
  kind,
  column: columnOf(name),
  type: columnTypes[kind.name],
}));

/** Selects the columns of a pet under the names of its fields. */
export const selectedPet = Object.values(petFields).map(({ name }) =>
  sql.ref(columnOf(name)).as(name),
);

function columnOf<Name extends string>(name: Name): Column<Name> {
  return name.replace(/Id$/, '_id') as Column<Name>;
}

/** Converts a row of `selectedPet` to the contract's pet. */
export function toPet(row: { readonly [field: string]: unknown }): Pet {
  return mapPet(row, fromColumn) as Pet;
}

function fromColumn(value: unknown, { kind }: Field): unknown {
  if (value == null) return undefined;
  return kind === int64 ? String(value) : value;
}

/** Converts a new pet to a row of `pets`, without an id. */
export function toPetRow(pet: NewPet): PetRow {
  const row: Partial<PetRow> = {};
  for (const { name, kind, column } of petColumns) {
    const value = pet[name] ?? null;
    row[column] = kind === int64 && value !== null ? BigInt(value) : value;
  }
  return row as PetRow;
}

/** Requires that the texts of a new pet can be stored; see `requireStorable`. */
export function requirePetStorable(pet: NewPet): void {
  for (const { name, kind } of petColumns) {
    if (kind.name === 'text') requireStorable(name, String(pet[name] ?? ''));
  }
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
