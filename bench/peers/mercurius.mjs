import fastify from 'fastify';
import mercurius from 'mercurius';
import { Pool } from 'undici';
import { toSearch, typeDefs } from './schema.mjs';

const { origin, pathname } = new URL(process.env.UPSTREAM);
const pool = new Pool(origin, { connections: 128 });

async function get(path, { authorization }) {
  const options = { method: 'GET', path: pathname + path, headers: { authorization } };
  const { statusCode, body } = await pool.request(options);
  if (statusCode !== 200) throw new Error(`The service responded with ${statusCode}.`);
  return body.json();
}

const app = fastify();
app.register(mercurius, {
  schema: typeDefs,
  resolvers: {
    Query: {
      pets: (_root, args, context) => get(`/pets${toSearch(args)}`, context),
      pet: (_root, { id }, context) => get(`/pets/${id}`, context),
      orders: (_root, _args, context) => get('/store/orders', context),
    },
  },
  context: ({ headers: { authorization } }) => ({ authorization }),
  jit: 1,
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
