import { enumeration, int64, integer, text, timestamp } from '../contract/fields.ts';
import { defineRecord, type NewRecordOf, type RecordOf } from '../contract/record.ts';

/** The statuses of a pet (contract, "PetStatus"). */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** The availability of a pet: exactly `available`, `pending` or `sold`. */
export type PetStatus = (typeof petStatuses)[number];

/** A pet (contract, "Pet"). All code that handles each field follows, or does not compile without one. */
export const pet = defineRecord('pet', 'pets', {
  id: { name: 'id', kind: int64, isRequired: true, isAssigned: true },
  name: { name: 'name', kind: text, isRequired: true },
  categoryId: { name: 'categoryId', kind: int64, isRequired: true },
  status: { name: 'status', kind: enumeration(petStatuses), isRequired: false },
});

type PetFields = (typeof pet)['fields'];

/** The name of a field of a pet. */
export type PetField = keyof PetFields;

/** A pet to add (contract, "NewPet"). */
export type NewPet = NewRecordOf<PetFields>;

/** A pet of a backend (contract, "Pet"). An invalid optional field is an Error instead. */
export type Pet = RecordOf<PetFields>;

/** Pets in the order of the service (contract, "Pets"). */
export type Pets = Iterable<Pet>;

/** A message (contract, "Message record"); `createdAt` is ISO 8601 text. */
export const message = defineRecord('message', 'messages', {
  id: { name: 'id', kind: text, isRequired: true, isAssigned: true },
  message: { name: 'message', kind: text, isRequired: true },
  status: { name: 'status', kind: text, isRequired: true, isAssigned: true },
  createdAt: { name: 'createdAt', kind: timestamp, isRequired: true, isAssigned: true },
});

/** A message that a backend accepted. */
export type Message = RecordOf<(typeof message)['fields']>;

/** The kinds of records that can be imported and exported. */
export const recordKinds = ['pets', 'orders'] as const;

/** The bounds and the default of `limit`, in pets (contract, "Limits"). */
export const pageSize = { minimum: 1, maximum: 100, default: 20 } as const;

/** The kind of `limit`. */
export const limit = integer(pageSize.minimum, pageSize.maximum);

/** When `GET /pets/{petId}` and the GraphQL field `pet` are removed (contract, "Versioning"). */
export const getPetRemoval = '2030-12-05';
