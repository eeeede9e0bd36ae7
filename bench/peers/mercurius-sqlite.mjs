import { DatabaseSync } from 'node:sqlite';
import fastify from 'fastify';
import mercurius from 'mercurius';
import { typeDefs } from './schema.mjs';

const database = new DatabaseSync(process.env.DATABASE_URL.replace('file:', ''));
const columns = 'id, name, category_id AS "categoryId", status';
const listPets = database.prepare(`SELECT ${columns} FROM pets ORDER BY id LIMIT ?`);

const app = fastify();
app.register(mercurius, {
  schema: typeDefs,
  resolvers: { Query: { pets: (_root, { limit }) => listPets.all(limit) } },
  jit: 1,
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
