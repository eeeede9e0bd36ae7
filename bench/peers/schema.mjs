import { readFileSync } from 'node:fs';

/** The gateway's own schema, so that all serve the same one. */
export const typeDefs = readFileSync(
  new URL('../../schema/schema.graphql', import.meta.url),
  'utf8',
);

/** The query of a list of pets, without what was not given. */
export function toSearch({ limit, status }) {
  return status ? `?limit=${limit}&status=${status}` : `?limit=${limit}`;
}
