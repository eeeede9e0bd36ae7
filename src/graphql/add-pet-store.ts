import type { SchemaTypes } from '@pothos/core';
import type { Message, NewPet, Pet, PetStatus } from '../contract/records.ts';
import type { PetStoreBuilder } from './builder.ts';
import type { PetStoreContext } from './context.ts';
import { addMessages } from './message.ts';
import { addOrders } from './order.ts';
import { addPets } from './pet.ts';

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
