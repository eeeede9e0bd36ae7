import type { SchemaTypes } from '@pothos/core';
import type { Message, NewPet, Pet, PetStatus } from '../records.ts';
import type { PetStoreBuilder } from './builder.ts';
import type { PetStoreContext } from './calls.ts';
import { addMessages } from './messages.ts';
import { addOrders } from './orders.ts';
import { addPets } from './pets.ts';

/** The types of the pet store in a builder with these types. */
export interface PetStoreRefs<Types extends SchemaTypes> {
  readonly Pet: PothosSchemaTypes.ObjectRef<Types, Pet>;
  readonly PetStatus: PothosSchemaTypes.EnumRef<Types, PetStatus>;
  readonly AddPetInput: PothosSchemaTypes.InputObjectRef<
    Types,
    { [Name in keyof NewPet]: NewPet[Name] | (undefined extends NewPet[Name] ? null : never) }
  >;
  readonly Message: PothosSchemaTypes.ObjectRef<Types, Message>;
}

/**
 * Adds the types, queries and mutations of the pet store to a builder, which has its own `queryType` and
 * `mutationType`. Returns its types, for fields of your own.
 */
export function addPetStore<Types extends SchemaTypes & { Context: PetStoreContext }>(
  builder: PothosSchemaTypes.SchemaBuilder<Types>,
): PetStoreRefs<Types>;
// Pothos cannot type code that is generic in the types of its builder.
export function addPetStore(builder: PetStoreBuilder) {
  const pets = addPets(builder);
  addOrders(builder);
  return { ...pets, ...addMessages(builder) };
}
