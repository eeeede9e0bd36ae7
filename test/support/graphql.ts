import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type DocumentNode, print } from 'graphql';
import { parseJson } from '../../src/contract/json.ts';
import { apiKey } from './gateway.ts';

/** A GraphQL answer as a client sees it. */
export interface Answer<Data = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  /** The body's text, before anything was parsed. */
  readonly text: string;
  readonly data?: Data | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: Record<string, unknown>;
  }[];
}

/** Sends an operation with the demo key, or with the headers given instead. */
export async function ask<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
  to: (request: Request) => Promise<Response>,
  document: string | DocumentNode | TypedDocumentNode<Data, Variables>,
  variables?: Variables,
  headers: Record<string, string> = { authorization: `Bearer ${apiKey}` },
): Promise<Answer<Data>> {
  const query = typeof document === 'string' ? document : print(document);
  const response = await to(
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
    ...(parseJson(text) as Pick<Answer<Data>, 'data' | 'errors'>),
  };
}
