import { buildHTTPExecutor } from '@graphql-tools/executor-http';
import { stitchSchemas } from '@graphql-tools/stitch';
import { buildSchema } from 'graphql';
import { createYoga, useExecutionCancellation } from 'graphql-yoga';
import { categoriesSdl } from './categories.ts';
import { exactIntegers, exactResponse } from './exact-integers.ts';
import { petStoreSdl, type Subgraphs } from './gateway.ts';

/** Creates a Yoga server with the same schema as `createFederation`, stitched without a supergraph. */
export function createStitched({ petStore, categories }: Subgraphs) {
  const subschemas = [
    {
      schema: buildSchema(petStoreSdl),
      batch: true,
      executor: buildHTTPExecutor({
        endpoint: petStore,
        headers: (execution) => ({
          authorization: execution?.context.request.headers.get('authorization') ?? '',
        }),
        fetch: async (url, init) => exactResponse(await fetch(url, init)),
        deduplicateInflightRequests: false,
      }),
    },
    {
      schema: buildSchema(categoriesSdl),
      executor: buildHTTPExecutor({ endpoint: categories, deduplicateInflightRequests: false }),
    },
  ];
  return createYoga({
    schema: stitchSchemas({ subschemas }),
    plugins: [useExecutionCancellation(), exactIntegers],
    graphiql: false,
    landingPage: false,
  });
}
