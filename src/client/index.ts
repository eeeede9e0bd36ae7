/** What a client of the gateway needs: typed documents, typed errors, and no server code. */
export * from './documents/graphql.ts';
export * from './errors.ts';
export { persistedHash } from './persisted-hash.ts';
