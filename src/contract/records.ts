/** The statuses of an animal (contract, "PetStatus"). */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** The availability of an animal: exactly `available`, `pending` or `sold`. */
export type PetStatus = (typeof petStatuses)[number];

/**
 * An integer from -2^63 to 2^63-1 as canonical decimal digits. It is a string, so that no step can
 * round it and a GraphQL `ID` needs no conversion.
 */
export type Int64 = string;

/** An animal to add (contract, "NewPet"). */
export interface NewPet {
  readonly name: string;
  readonly categoryId: Int64;
  readonly status?: PetStatus;
}

/**
 * An animal as a backend returns it (contract, "Pet"). An invalid `status` is replaced by the error
 * for its field, so that one bad value does not fail the whole list.
 */
export interface Pet {
  readonly id: Int64;
  readonly name: string;
  readonly categoryId: Int64;
  readonly status?: PetStatus | Error;
}

/** A message that a backend accepted (contract, "Message record"); `createdAt` is ISO 8601 text. */
export interface Message {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly createdAt: string;
}

/** Animals in the order of the service (contract, "Pets"). */
export type Pets = Iterable<Pet>;

/** The bounds and the default of `limit`, in animals (contract, "Limits"). */
export const pageSize = { minimum: 1, maximum: 100, default: 20 } as const;

/** When `GET /pets/{petId}` and the GraphQL field `pet` are removed (contract, "Versioning"). */
export const getPetRemoval = new Date('2030-12-05T00:00:00Z');
