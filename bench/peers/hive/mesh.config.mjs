import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';

// The example of the orders would become their type, although their shape is not published.
const described = fileURLToPath(new URL('../../../schema/openapi.yaml', import.meta.url));
const source = join(tmpdir(), `petstore-without-examples-${process.pid}.yaml`);
writeFileSync(source, readFileSync(described, 'utf8').replaceAll(/^ +example: .*\n/gm, ''));

/** The supergraph of the REST contract, composed from its OpenAPI description. */
export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadOpenAPISubgraph('PetStore', {
        source,
        endpoint: process.env.UPSTREAM,
        operationHeaders: { authorization: '{context.headers.authorization}' },
        // No unions of pets and errors: the other servers have none, and the schema is lighter.
        ignoreErrorResponses: true,
      }),
    },
  ],
});
