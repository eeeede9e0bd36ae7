import { enumeration, type Field, int64, text, timestamp } from './fields.ts';

/** The statuses of a pet (contract, "PetStatus"). */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** The availability of a pet: exactly `available`, `pending` or `sold`. */
export type PetStatus = (typeof petStatuses)[number];

/**
 * The fields of a pet (contract, "Pet"), in the order of their columns and in the usual lists.
 * All code that handles each field follows from them, or does not compile without one.
 */
export const petFields = {
  id: { name: 'id', kind: int64, isRequired: true },
  name: { name: 'name', kind: text, isRequired: true },
  categoryId: { name: 'categoryId', kind: int64, isRequired: true },
  status: { name: 'status', kind: enumeration(petStatuses), isRequired: false },
} as const satisfies Readonly<Record<string, Field>>;

/** Maps each field of a pet, in order. A loop would take three times as long. */
export function mapPet<From, To>(
  pet: { readonly [Name in PetField]?: From },
  map: (value: From | undefined, field: Field, index?: number) => To,
  index?: number,
): Record<PetField, To> {
  const { id, name, categoryId, status } = petFields;
  return {
    id: map(pet.id, id, index),
    name: map(pet.name, name, index),
    categoryId: map(pet.categoryId, categoryId, index),
    status: map(pet.status, status, index),
  };
}

/** The name of a field of a pet. */
export type PetField = keyof typeof petFields;

type RequiredField = {
  [Name in PetField]: (typeof petFields)[Name]['isRequired'] extends true ? Name : never;
}[PetField];
type Value<Name extends PetField> = NonNullable<
  ReturnType<(typeof petFields)[Name]['kind']['parse']>
>;

/** A pet to add (contract, "NewPet"). */
export type NewPet = { readonly [Name in Exclude<RequiredField, 'id'>]: Value<Name> } & {
  readonly [Name in Exclude<PetField, RequiredField>]?: Value<Name> | undefined;
};

/** A pet of a backend (contract, "Pet"). An invalid optional field is an Error instead. */
export type Pet = { readonly [Name in RequiredField]: Value<Name> } & {
  readonly [Name in Exclude<PetField, RequiredField>]?: Value<Name> | Error | undefined;
};

/** The fields of a message, all of them text (contract, "Message record"). */
export const messageFields = {
  id: { name: 'id', kind: text, isRequired: true },
  message: { name: 'message', kind: text, isRequired: true },
  status: { name: 'status', kind: text, isRequired: true },
  createdAt: { name: 'createdAt', kind: timestamp, isRequired: true },
} as const satisfies Readonly<Record<string, Field>>;

/** A message that a backend accepted (contract, "Message record"); `createdAt` is ISO 8601 text. */
export type Message = Readonly<Record<keyof typeof messageFields, string>>;

/** Pets in the order of the service (contract, "Pets"). */
export type Pets = Iterable<Pet>;

/** The bounds and the default of `limit`, in pets (contract, "Limits"). */
export const pageSize = { minimum: 1, maximum: 100, default: 20 } as const;

/** Whether a value is within the bounds of `limit`. */
export function isPageSize(limit: unknown): boolean {
  return Number(limit) >= pageSize.minimum && Number(limit) <= pageSize.maximum;
}

/** When `GET /pets/{petId}` and the GraphQL field `pet` are removed (contract, "Versioning"). */
export const getPetRemoval = '2030-12-05';
