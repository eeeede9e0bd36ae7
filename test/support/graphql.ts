import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type DocumentNode, print } from 'graphql';
import { parseJson } from '../../src/contract/json.ts';
import { apiKey } from './gateway.ts';

/** The headers of the demo key. */
export const withKey = { authorization: `Bearer ${apiKey}` };

/** Creates a POST of GraphQL parameters with these headers, by default with the demo key. */
export function graphqlRequest(
  url: string,
  parameters: object,
  headers: Readonly<Record<string, string>> = withKey,
  signal?: AbortSignal,
): Request {
  return new Request(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(parameters),
    ...(signal && { signal }),
  });
}

/** A GraphQL response as a client receives it. */
interface GraphQLResponse<Data = Record<string, unknown>> {
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
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Sends an operation with the given headers, by default with the demo key. */
export async function postGraphQL<
  Data = Record<string, unknown>,
  Variables = Record<string, unknown>,
>(
  gateway: (request: Request) => Promise<Response>,
  document: string | DocumentNode | TypedDocumentNode<Data, Variables>,
  variables?: Variables,
  headers?: Readonly<Record<string, string>>,
): Promise<GraphQLResponse<Data>> {
  const query = typeof document === 'string' ? document : print(document);
  const parameters = { query, ...(variables ? { variables } : {}) };
  const response = await gateway(graphqlRequest('http://gateway.test', parameters, headers));
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    ...(parseJson(text) as Pick<GraphQLResponse<Data>, 'data' | 'errors' | 'extensions'>),
  };
}
