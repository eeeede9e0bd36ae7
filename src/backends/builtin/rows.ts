import type { Selectable } from 'kysely';
import type { NewPet, Pet } from '../../contract/records.ts';
import type { Tables } from './database.ts';

/** A row of `pets` as the contract's animal. */
export function toPet(row: Selectable<Tables['pets']>): Pet {
  const pet = { id: String(row.id), name: row.name, categoryId: String(row.category_id) };
  return row.status === null ? pet : { ...pet, status: row.status };
}

/** An animal to add as a row of `pets`, without an id. */
export function toPetRow({ name, categoryId, status }: NewPet) {
  return { name, category_id: BigInt(categoryId), status: status ?? null };
}

/** Whether a database keeps a text as it is: it would change lone surrogates, or refuse NUL. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
