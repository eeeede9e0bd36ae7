import { parseInt64 } from '../../contract/int64.ts';
import { invalidArguments } from '../../graphql/invalid-input.ts';
import {
  getPetRemoval,
  limit as kindOfLimit,
  type NewPet,
  type PetField,
  type Pet as PetRecord,
  pageSize,
} from '../records.ts';
import type { PetStoreBuilder } from './builder.ts';
import { inputChecks } from './calls.ts';

/** Adds pets, their queries and their mutation. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of declarations.
export function addPets(builder: PetStoreBuilder) {
  const PetStatus = builder.enumType('PetStatus', {
    description: 'The availability of a pet, which `pets(status:)` filters by.',
    values: {
      available: { description: 'The pet is available.' },
      pending: { description: 'The pet is pending.' },
      sold: { description: 'The pet is sold.' },
    },
  });

  const Pet = builder.objectRef<PetRecord>('Pet').implement({
    description: 'A pet in the store.',
    fields: (t) =>
      ({
        id: t.exposeID('id', {
          nullable: false,
          description: 'The identifier that the service assigned: an int64 as a string of digits.',
        }),
        name: t.exposeString('name', { nullable: false, description: "The pet's name." }),
        categoryId: t.exposeID('categoryId', {
          nullable: false,
          description: 'The category of the pet: an int64 as a string of digits.',
        }),
        // The property may be an Error, which graphql-js throws for this field. Pothos cannot type it.
        status: t.expose('status' as never, {
          type: PetStatus,
          nullable: true,
          description: 'The availability; null for a pet that was added without one.',
        }),
      }) satisfies Record<PetField, unknown>,
  });

  const AddPetInput = builder.inputType('AddPetInput', {
    description: 'A pet to add.',
    fields: (t) =>
      ({
        name: t.string({ required: true, description: 'The name of the pet.' }),
        categoryId: t.id({
          required: true,
          description:
            'The category of the pet: an int64 as a string or an integer. Use a string if your language would round it.',
        }),
        status: t.field({
          type: PetStatus,
          required: false,
          description: 'The availability. There is no default.',
        }),
      }) satisfies Record<keyof NewPet, unknown>,
  });

  builder.queryField('pets', (t) =>
    t.field({
      type: [Pet],
      nullable: { list: true, items: false },
      description: 'The pets in the store, in the order of the service.',
      args: {
        limit: t.arg.int({
          required: false,
          defaultValue: pageSize.default,
          description: `The maximum number of pets, from ${pageSize.minimum} to ${pageSize.maximum}; ${pageSize.default} if omitted or null.`,
        }),
        status: t.arg({
          type: PetStatus,
          required: false,
          description: 'Return only pets with this status.',
        }),
      },
      resolve(_root, { limit, status }, { petStore }, { path }) {
        const size = limit ?? pageSize.default;
        if (kindOfLimit.parse(size) === undefined)
          throw invalidArguments({ limit: size }, inputChecks.get('pets'));
        // The default is not sent, because the service has the same one.
        const sent = size === pageSize.default ? undefined : size;
        return petStore.listPetsAsText({ limit: sent, status: status ?? undefined }, path.key);
      },
    }),
  );

  builder.queryField('pet', (t) =>
    t.field({
      type: Pet,
      nullable: true,
      description: 'One pet by its identifier. The error is `NOT_FOUND` if there is none.',
      deprecationReason: `The REST operation is removed on ${getPetRemoval}; use pets(status:) instead.`,
      extensions: { removal: getPetRemoval, replacement: 'Query.pets(status:)' },
      args: {
        id: t.arg.id({ required: true, description: 'An int64, as a string or an integer.' }),
      },
      resolve(_root, { id }, { petStore }, { path }) {
        const petId = parseInt64(id);
        if (petId === undefined) throw invalidArguments({ id }, inputChecks.get('pet'));
        return petStore.getPet(petId, path.key);
      },
    }),
  );

  builder.mutationField('addPet', (t) =>
    t.field({
      type: Pet,
      nullable: true,
      description: 'Adds a pet and returns it with the identifier that the service assigned.',
      args: {
        input: t.arg({ type: AddPetInput, required: true, description: 'The pet to add.' }),
      },
      resolve(_root, { input }, { petStore }, { path }) {
        const { name, status } = input;
        const categoryId = parseInt64(input.categoryId);
        if (categoryId === undefined) throw invalidArguments({ input }, inputChecks.get('addPet'));
        const pet: Required<NewPet> = { name, categoryId, status: status ?? undefined };
        return petStore.createPet(pet, path.key);
      },
    }),
  );
  return { Pet, PetStatus, AddPetInput };
}
