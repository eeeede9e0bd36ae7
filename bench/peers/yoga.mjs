import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { toSearch, typeDefs } from './schema.mjs';

async function get(path, { request }) {
  const authorization = request.headers.get('authorization');
  const response = await fetch(process.env.UPSTREAM + path, { headers: { authorization } });
  if (!response.ok) throw new Error(`The service responded with ${response.status}.`);
  return response.json();
}

const yoga = createYoga({
  schema: createSchema({
    typeDefs,
    resolvers: {
      Query: {
        pets: (_root, args, context) => get(`/pets${toSearch(args)}`, context),
        pet: (_root, { id }, context) => get(`/pets/${id}`, context),
        orders: (_root, _args, context) => get('/store/orders', context),
      },
    },
  }),
});
createServer(yoga).listen(process.env.PORT, '127.0.0.1');
