import fastify from 'fastify';
import mercurius from 'mercurius';
import pg from 'pg';
import { typeDefs } from './schema.mjs';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const columns = 'id, name, category_id AS "categoryId", status';

async function listPets(_root, { limit }) {
  const sql = `SELECT ${columns} FROM pets ORDER BY id LIMIT $1`;
  const { rows } = await pool.query(sql, [limit]);
  return rows;
}

const app = fastify();
app.register(mercurius, { schema: typeDefs, resolvers: { Query: { pets: listPets } }, jit: 1 });
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
