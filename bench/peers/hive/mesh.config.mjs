import { fileURLToPath } from 'node:url';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';

/** The supergraph of the REST contract, composed from its OpenAPI description. */
export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadOpenAPISubgraph('PetStore', {
        source: fileURLToPath(new URL('../../../schema/openapi.yaml', import.meta.url)),
        endpoint: process.env.UPSTREAM,
        operationHeaders: { authorization: '{context.headers.authorization}' },
        // No unions of pets and errors: the other servers have none, and the schema is lighter.
        ignoreErrorResponses: true,
      }),
    },
  ],
});
