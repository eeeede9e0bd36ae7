import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type DocumentNode, print } from 'graphql';
import { parseJson } from '../../src/contract/json.ts';
import { apiKey } from './gateway.ts';

/** A GraphQL response as a client receives it. */
export interface GraphQLResponse<Data = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  /** The body before parsing. */
  readonly text: string;
  readonly data?: Data | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: Record<string, unknown>;
  }[];
}

/** Sends an operation with the given headers, by default with the demo key. */
export async function postGraphQL<
  Data = Record<string, unknown>,
  Variables = Record<string, unknown>,
>(
  gateway: (request: Request) => Promise<Response>,
  document: string | DocumentNode | TypedDocumentNode<Data, Variables>,
  variables?: Variables,
  headers: Record<string, string> = { authorization: `Bearer ${apiKey}` },
): Promise<GraphQLResponse<Data>> {
  const query = typeof document === 'string' ? document : print(document);
  const response = await gateway(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, ...(variables ? { variables } : {}) }),
    }),
  );
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    ...(parseJson(text) as Pick<GraphQLResponse<Data>, 'data' | 'errors'>),
  };
}
