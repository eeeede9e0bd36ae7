import { type ApolloClient, CombinedGraphQLErrors } from '@apollo/client';
import type { Client } from '@urql/core';
import { type DocumentNode, OperationTypeNode } from 'graphql';

/** What a client reports of an operation. */
export interface Reported {
  readonly data?: unknown;
  readonly errors?:
    | readonly { readonly extensions?: Readonly<Record<string, unknown>> }[]
    | undefined;
}

/** Sends an operation. `signal` cancels it. Rejects if there is no GraphQL response. */
export type Send = (
  document: DocumentNode,
  variables?: object,
  signal?: AbortSignal,
) => Promise<Reported>;

/** Whether a document is that of a mutation. */
export const isMutation = (document: DocumentNode) =>
  document.definitions.some(
    (definition) =>
      'operation' in definition && definition.operation === OperationTypeNode.MUTATION,
  );

/** Sends operations with Apollo Client. */
export function sendWithApollo(client: ApolloClient): Send {
  return async (document, variables = {}, signal) => {
    const context = { fetchOptions: { signal } };
    const options = { variables, errorPolicy: 'all' as const, context };
    const { data, error } = isMutation(document)
      ? await client.mutate({ mutation: document, ...options })
      : await client.query({ query: document, ...options });
    if (error && !CombinedGraphQLErrors.is(error)) throw error;
    return { data, errors: error?.errors };
  };
}

/** Sends operations with urql. */
export function sendWithUrql(client: Client): Send {
  return (document, variables = {}, signal) =>
    new Promise((resolve, reject) => {
      const source = isMutation(document)
        ? client.mutation(document, variables)
        : client.query(document, variables);
      // Subscribed to the end: unsubscribing would abort the request while its last part is read.
      const { unsubscribe } = source.subscribe(({ data, error, hasNext }) => {
        if (error?.networkError) reject(error.networkError);
        else if (!hasNext) resolve({ data, errors: error?.graphQLErrors });
      });
      signal?.addEventListener('abort', () => {
        unsubscribe();
        reject(signal.reason);
      });
    });
}
