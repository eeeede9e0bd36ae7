import { fileURLToPath } from 'node:url';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';

/** The supergraph of the REST contract, composed of its OpenAPI description. */
export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadOpenAPISubgraph('PetStore', {
        source: fileURLToPath(new URL('../../../schema/openapi.yaml', import.meta.url)),
        endpoint: process.env.UPSTREAM,
        operationHeaders: { authorization: '{context.headers.authorization}' },
        // Without unions of pets and errors, as the other servers have it; lighter besides.
        ignoreErrorResponses: true,
      }),
    },
  ],
});
