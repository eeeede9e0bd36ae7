import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findNames, namesIn } from '../../schema/names.ts';

it.each([
  'const pet = 1;',
  "path: '/pets/{petId}',",
  "call('listPets')",
  "run('createPet')",
  'type AddPetInput = NewPet;',
  'const { petFields } = records;',
  '// The orders come last.',
  'sendMessage(text)',
  "send('messages')",
  '/** Below `/quickstart`. */',
])('finds the name in %s', (line) => {
  expect(namesIn(`\n${line}\n`)).toEqual([`2: ${line}`]);
});

it.each([
  "'petstore_rest_calls_total'",
  'PETSTORE_BASE_URL',
  'The pet store did not respond in time.',
  'new PetStoreError(message)',
  'context.petStore.isAlone',
  'usePetStoreCalls(backend)',
  'Messages show the order of fields.',
])('finds none in %s', (line) => {
  expect(namesIn(line)).toEqual([]);
});

it('finds none in the engine that is not an exception', () => {
  expect(findNames(join(import.meta.dirname, '../..'))).toEqual([]);
});
