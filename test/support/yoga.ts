import SchemaBuilder from '@pothos/core';
import { createYoga, type YogaServerOptions } from 'graphql-yoga';
import { loadConfig } from '../../src/index.ts';
import {
  addPetStore,
  type PetStoreContext,
  type PetStoreRefs,
  usePetStore,
} from '../../src/schema.ts';
import { graphqlRequest } from './graphql.ts';

const authorization = 'Bearer a-key-of-a-test';

type Environment = Readonly<Record<string, string>>;

/** The types of a builder in tests. */
type Types = PothosSchemaTypes.ExtendDefaultTypes<{ Context: PetStoreContext }>;

/** Builds a schema with the pet store, and what `add` adds. */
export function buildSchema(
  add?: (builder: PothosSchemaTypes.SchemaBuilder<Types>, refs: PetStoreRefs<Types>) => void,
) {
  const builder = new SchemaBuilder<{ Context: PetStoreContext }>({});
  builder.queryType({});
  builder.mutationType({});
  const refs = addPetStore(builder);
  add?.(builder, refs);
  return builder.toSchema();
}

/** Opens a Yoga server with the plugin and these options, without a socket. */
export async function openYoga(
  schema: YogaServerOptions<object, PetStoreContext>['schema'],
  env: Environment = { DATABASE_URL: ':memory:' },
  options: YogaServerOptions<object, PetStoreContext> = {},
  later: readonly object[] = [],
) {
  const plugin = await usePetStore(loadConfig({ LOG_LEVEL: 'silent', ...env }));
  const plugins = [...(options.plugins ?? []), plugin, ...later];
  const yoga = createYoga({ logging: false, ...options, schema, plugins });
  return {
    /** Sends a body, with an API key. Other headers are added. */
    async post(body: object, headers: Readonly<Record<string, string>> = {}) {
      const sent = { authorization, ...headers };
      const response = await yoga.fetch(graphqlRequest('http://localhost', body, sent));
      const text = await response.text();
      return { status: response.status, text, ...(text.startsWith('{') ? JSON.parse(text) : {}) };
    },
    dispose: async () => yoga.dispose(),
    [Symbol.asyncDispose]: async () => yoga.dispose(),
  };
}
