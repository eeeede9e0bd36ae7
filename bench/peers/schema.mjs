import { readFileSync } from 'node:fs';

/** The gateway's schema, so that all peers serve the same schema. */
export const typeDefs = readFileSync(
  new URL('../../schema/schema.graphql', import.meta.url),
  'utf8',
);

/** The query string of `GET /pets`, without the arguments that are not given. */
export function toSearch({ limit, status }) {
  return status ? `?limit=${limit}&status=${status}` : `?limit=${limit}`;
}
