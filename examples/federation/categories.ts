import { createSchema, createYoga } from 'graphql-yoga';

/** The SDL of the second subgraph. */
export const categoriesSdl = `
  type Query { categories: [Category!] }
  type Category { id: ID! name: String! }
`;

const categories = [
  { id: '1', name: 'dogs' },
  { id: '2', name: 'cats' },
];

/** Creates the second subgraph: a GraphQL server without keys. */
export function createCategories() {
  const resolvers = { Query: { categories: () => categories } };
  const schema = createSchema({ typeDefs: categoriesSdl, resolvers });
  return createYoga({ schema, graphiql: false, landingPage: false });
}
