/** Variables to run the operations of GraphiQL without changes, by file, in the order of its tabs. */
export const examples: Readonly<Record<string, object>> = {
  'list-pets.graphql': { limit: 5 },
  'storefront.graphql': { limit: 3 },
  'deferred-storefront.graphql': { limit: 3 },
  'add-pet.graphql': {
    input: { name: 'Biscuit', categoryId: '9223372036854775807', status: 'available' },
  },
  'get-pet.graphql': { id: '1' },
  'list-orders.graphql': {},
  'send-message.graphql': { message: 'Hello' },
};
