import { randomUUID } from 'node:crypto';
import { BackendUnavailableError } from '../../contract/error.ts';
import type { Message, NewPet, Pet } from '../../contract/records.ts';
import type { Database } from './database.ts';
import { selectedPet, toPet, toPetRow } from './rows.ts';

/**
 * Stores a pet under the next free id, because an import may have used ids that the database would
 * assign. An insert with a taken id stores nothing, so it is safe to repeat.
 */
export async function insertPet(connection: Database, pet: NewPet): Promise<Pet> {
  for (let tries = 0; tries < 1000; tries++) {
    const row = await connection
      .insertInto('pets')
      .values(toPetRow(pet))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(selectedPet)
      .executeTakeFirst();
    if (row !== undefined) return toPet(row);
  }
  throw new BackendUnavailableError('The store found no free id.', { writeOutcome: 'NOT_DONE' });
}

/** Stores a message as queued. */
export async function insertMessage(connection: Database, message: string): Promise<Message> {
  const created_at = new Date().toISOString();
  const row = { id: randomUUID(), message, status: 'queued', created_at };
  await connection.insertInto('messages').values(row).execute();
  return { id: row.id, message, status: row.status, createdAt: row.created_at };
}
