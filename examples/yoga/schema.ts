import SchemaBuilder from '@pothos/core';
import { addPetStore, type PetStoreContext } from 'petstore-gateway/schema';
import { type Category, categoriesOf } from './categories.ts';

const builder = new SchemaBuilder<{ Context: PetStoreContext }>({});
builder.queryType({});
builder.mutationType({});

const { Pet } = addPetStore(builder);

const CategoryType = builder.objectRef<Category>('Category').implement({
  fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }),
});

builder.objectField(Pet, 'category', (t) =>
  t.field({
    type: CategoryType,
    nullable: true,
    resolve: ({ categoryId }, _args, { petStore }) => categoriesOf(petStore).load(categoryId),
  }),
);

builder.mutationField('addCategory', (t) =>
  t.field({
    type: CategoryType,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_root, { name }, { petStore }) =>
      petStore.rest.post('/categories', { name }) as Promise<Category>,
  }),
);

export const schema = builder.toSchema({ sortSchema: false });
