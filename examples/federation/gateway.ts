import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';
import { categoriesSdl } from './categories.ts';
import { exactIntegers } from './exact-integers.ts';

/** The addresses of the subgraphs. */
export interface Subgraphs {
  readonly petStore: string;
  readonly categories: string;
}

/** The SDL of the first subgraph, as the package contains it. */
export const petStoreSdl = readFileSync(
  fileURLToPath(import.meta.resolve('petstore-gateway/schema.graphql')),
  'utf8',
);

/** Composes the schemas of the subgraphs to a supergraph. @throws if they contradict each other. */
function compose({ petStore, categories }: Subgraphs): string {
  const { supergraphSdl, errors } = composeServices([
    { name: 'petstore', url: petStore, typeDefs: parse(petStoreSdl) },
    { name: 'categories', url: categories, typeDefs: parse(categoriesSdl) },
  ]);
  if (!supergraphSdl) throw new AggregateError(errors ?? [], 'The subgraphs do not compose.');
  return supergraphSdl;
}

/** Creates Hive Gateway in front of the subgraphs: a request listener and a fetch handler. */
export function createFederation(subgraphs: Subgraphs) {
  return createGatewayRuntime({
    supergraph: compose(subgraphs),
    // Without this, subgraphs receive no header of the client except `x-request-id`.
    propagateHeaders: {
      fromClientToSubgraphs: ({ request, subgraphName }) =>
        subgraphName === 'petstore' ? { authorization: request.headers.get('authorization') } : {},
    },
    // Cancels the calls of clients that disconnect. Equal requests must not share a call then,
    // because it would be cancelled for all of them.
    executionCancellation: true,
    transportEntries: { '*.http': { options: { deduplicateInflightRequests: false } } },
    // Deferred fragments at the root; see the README.
    deferStream: true,
    plugins: () => [exactIntegers],
    // Both load files from other hosts.
    graphiql: false,
    landingPage: false,
  });
}
