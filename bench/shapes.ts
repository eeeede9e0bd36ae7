import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, cacheExchange, fetchExchange } from '@urql/core';

/** A document with its variables. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The right answer: the bodies of the REST calls, by the names of the root fields. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An HTTP request, without its Host, Content-Length and Authorization. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a client writes an operation as an HTTP request. */
export type Shape = (operation: Operation) => Message | Promise<Message>;

const path = '/graphql';

/** A query and its variables as JSON, as one writes it for curl. */
export const barePost: Shape = ({ query, variables }) => post({ query, variables });

/** The hash of a document instead of its text. */
export const persistedPost: Shape = ({ query, variables }) =>
  post({ documentId: documentId(query), variables });

/** The same in the URL, as a CDN can cache it. */
export const persistedGet: Shape = ({ query, variables }) => {
  const search = new URLSearchParams({
    documentId: documentId(query),
    variables: JSON.stringify(variables),
  });
  const headers = { accept: 'application/graphql-response+json' };
  return { method: 'GET', path: `${path}?${search}`, headers, body: '' };
};

/** What Apollo Client sends by default, in Node. */
export const apollo: Shape = ({ query, variables }) =>
  record((uri) => {
    const client = new ApolloClient({
      link: new HttpLink({ uri }),
      cache: new InMemoryCache(),
      defaultOptions: { query: { fetchPolicy: 'no-cache' } },
    });
    return client.query({ query: gql(query), variables });
  });

/** What urql sends by default, in Node: a GET. */
export const urql: Shape = ({ query, variables }) =>
  record((url) => createUrql(url).query(query, variables).toPromise());

/** What urql sends with `preferGetMethod: false`, and for documents that are too long for a URL. */
export const urqlPost: Shape = ({ query, variables }) =>
  record((url) => createUrql(url).query(query, variables, { preferGetMethod: false }).toPromise());

/** The identifier of a document (GraphQL over HTTP, appendix "Persisted Documents"). */
export function documentId(query: string): string {
  return `sha256:${createHash('sha256').update(query).digest('hex')}`;
}

function createUrql(url: string): Client {
  return new Client({ url, exchanges: [cacheExchange, fetchExchange] });
}

function post(json: object): Message {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify(json) };
}

/** The request that a client sends to the address that it is given. */
async function record(send: (url: string) => Promise<unknown>): Promise<Message> {
  const received = Promise.withResolvers<Message>();
  const server = createServer(async (request, response) => {
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const body = await text(request);
    const { method = '', url = '' } = request;
    received.resolve({ method, path: url, headers: headers as Message['headers'], body });
    response.setHeader('content-type', 'application/json').end('{"data":{}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await send(`http://127.0.0.1:${port}${path}`);
    return await received.promise;
  } finally {
    server.close().closeAllConnections();
  }
}
