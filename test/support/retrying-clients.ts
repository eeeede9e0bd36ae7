import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { Client, fetchExchange } from '@urql/core';
import { type DocumentNode, print } from 'graphql';
import { createRetryLink } from '../../packages/client/src/apollo.ts';
import { createRetryFetch, type RetryOptions } from '../../packages/client/src/index.ts';
import { createRetryExchange } from '../../packages/client/src/urql.ts';
import { withKey } from './graphql.ts';

/** What a client reports of an operation. `failed` is set if there was no GraphQL response. */
interface Reported {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions?: Readonly<Record<string, unknown>> }[];
  readonly failed?: unknown;
}

/** Sends operations with a client that retries. */
export interface RetryingClient {
  query(document: DocumentNode, variables?: object): Promise<Reported>;
  mutate(document: DocumentNode, variables?: object): Promise<Reported>;
}

function createApollo(url: string, options: RetryOptions): RetryingClient {
  const client = new ApolloClient({
    link: ApolloLink.from([createRetryLink(options), new HttpLink({ uri: url, headers: withKey })]),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
    defaultOptions: { query: { fetchPolicy: 'no-cache' }, mutate: { fetchPolicy: 'no-cache' } },
  });
  const report = ({ data, error }: { data?: unknown; error?: unknown }): Reported =>
    CombinedGraphQLErrors.is(error) ? { data, errors: error.errors } : { data, failed: error };
  const errorPolicy = 'all';
  return {
    query: async (query, variables = {}) =>
      report(await client.query({ query, variables, errorPolicy })),
    mutate: async (mutation, variables = {}) =>
      report(await client.mutate({ mutation, variables, errorPolicy })),
  };
}

function createUrql(url: string, options: RetryOptions): RetryingClient {
  const client = new Client({
    url,
    fetchOptions: { headers: withKey },
    exchanges: [createRetryExchange(options), fetchExchange],
    requestPolicy: 'network-only',
  });
  const report = ({ data, error }: Awaited<ReturnType<typeof client.query>>): Reported =>
    error?.networkError
      ? { failed: error.networkError }
      : { data, errors: error?.graphQLErrors ?? [] };
  return {
    query: (document, variables = {}) =>
      // Subscribed to the end: unsubscribing would abort the request while its last part is read.
      new Promise((resolve) => {
        client.query(document, variables).subscribe((result) => {
          if (!result.hasNext) resolve(report(result));
        });
      }),
    mutate: async (document, variables = {}) => report(await client.mutation(document, variables)),
  };
}

function createFetch(url: string, options: RetryOptions): RetryingClient {
  const send = createRetryFetch(options);
  const post = async (document: DocumentNode, variables = {}): Promise<Reported> => {
    try {
      const body = JSON.stringify({ query: print(document), variables });
      const sent = { method: 'POST', headers: { ...withKey, 'content-type': 'application/json' } };
      return await (await send(url, { ...sent, body })).json();
    } catch (failed) {
      return { failed };
    }
  };
  return { query: post, mutate: post };
}

/** Every way in which the client package retries. */
export const retryingClients = [
  ['Apollo Client', createApollo],
  ['urql', createUrql],
  ['fetch', createFetch],
] as const;
