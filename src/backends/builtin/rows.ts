import type { Selectable } from 'kysely';
import type { NewPet, Pet } from '../../contract/records.ts';
import type { Tables } from './database.ts';

/** Converts a row of `pets` to the contract's animal. */
export function toPet({ id, name, category_id, status }: Selectable<Tables['pets']>): Pet {
  const pet = { id: String(id), name, categoryId: String(category_id) };
  return status === null ? pet : { ...pet, status };
}

/** Converts a new animal to a row of `pets`, without an id. */
export function toPetRow({ name, categoryId, status }: NewPet) {
  return { name, category_id: BigInt(categoryId), status: status ?? null };
}

/**
 * Maximum lengths in UTF-16 code units. The contract specifies none, so they are our own. A page of
 * the longest names, escaped, is smaller than a megabyte.
 */
export const maxLengths = { name: 1000, message: 10_000 } as const;

/** Returns why a text cannot be stored: it is too long, or a database would change or refuse it. */
export function whyNotStorable(field: keyof typeof maxLengths, text: string): string | undefined {
  if (text.length > maxLengths[field]) {
    return `${field}: expected at most ${maxLengths[field]} characters, received ${text.length}.`;
  }
  if (text.isWellFormed() && !text.includes('\0')) return undefined;
  return `${field}: expected text without NUL characters or lone surrogates.`;
}
