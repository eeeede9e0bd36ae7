import { InvalidInputError } from '../contract/error.ts';
import { getPetRemoval, type NewPet, type Pet, pageSize } from '../contract/records.ts';
import { builder } from './builder.ts';
import { int64Argument } from './scalars.ts';

const PetStatus = builder.enumType('PetStatus', {
  description: 'The availability of an animal.',
  values: {
    available: { description: 'The animal is available.' },
    pending: { description: 'The animal is pending.' },
    sold: { description: 'The animal is sold.' },
  },
});

const PetType = builder.objectRef<Pet>('Pet').implement({
  description: 'An animal of the store.',
  fields: (t) => ({
    id: t.exposeID('id', {
      nullable: false,
      description: 'The identifier that the service assigned: an int64 as its decimal digits.',
    }),
    name: t.exposeString('name', { nullable: false, description: "The animal's name." }),
    categoryId: t.exposeID('categoryId', {
      nullable: false,
      description: 'The category it belongs to: an int64 as its decimal digits.',
    }),
    // A property that is an Error fails its field (GraphQL.js throws it), which its type can't say.
    status: t.expose('status' as never, {
      type: PetStatus,
      nullable: true,
      description: 'Its availability; null when it was added without one.',
    }),
  }),
});

const AddPetInput = builder.inputType('AddPetInput', {
  description: 'An animal to add.',
  fields: (t) => ({
    name: t.string({ required: true, description: "The animal's name." }),
    categoryId: t.id({
      required: true,
      description:
        'The category it belongs to: an int64, as a string or an integer. Use a string where your language would round it.',
    }),
    status: t.field({ type: PetStatus, description: 'Its availability; there is no default.' }),
  }),
});

builder.queryField('pets', (t) =>
  t.field({
    type: [PetType],
    nullable: { list: true, items: false },
    description: 'Animals of the store, ordered as the service orders them.',
    args: {
      limit: t.arg.int({
        defaultValue: pageSize.default,
        description: `How many animals at most: ${pageSize.minimum} to ${pageSize.maximum}. Left out or null, it is ${pageSize.default}.`,
      }),
      status: t.arg({ type: PetStatus, description: 'Only animals of this status.' }),
    },
    resolve(_root, { limit, status }, context) {
      const size = limit ?? pageSize.default;
      if (size < pageSize.minimum || size > pageSize.maximum) {
        throw new InvalidInputError(
          `limit: expected an integer from ${pageSize.minimum} to ${pageSize.maximum}, received ${size}.`,
        );
      }
      // A limit that was not given is not sent either: the service's default is the same.
      const isDefault = size === pageSize.default;
      return context.pets.load({
        ...(isDefault ? {} : { limit: size }),
        ...(status ? { status } : {}),
      });
    },
  }),
);

builder.queryField('pet', (t) =>
  t.field({
    type: PetType,
    nullable: true,
    description: 'One animal by its identifier; `NOT_FOUND` when there is none.',
    deprecationReason:
      'The REST operation behind it is removed on 2030-12-05; use pets(status:) instead.',
    extensions: {
      removal: getPetRemoval.toISOString().slice(0, 10),
      replacement: 'Query.pets(status:)',
    },
    args: {
      id: t.arg.id({ required: true, description: 'An int64, as a string or an integer.' }),
    },
    resolve: (_root, { id }, context) => context.pet.load(int64Argument('id', id)),
  }),
);

builder.mutationField('addPet', (t) =>
  t.field({
    type: PetType,
    nullable: true,
    description: 'Adds an animal and returns it with the identifier that the service assigned.',
    args: { input: t.arg({ type: AddPetInput, required: true, description: 'The animal.' }) },
    resolve(_root, { input: { name, categoryId, status } }, context) {
      const pet: NewPet = {
        name,
        categoryId: int64Argument('categoryId', categoryId),
        ...(status ? { status } : {}),
      };
      return context.addPet(pet);
    },
  }),
);
