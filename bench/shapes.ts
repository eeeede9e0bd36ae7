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
  /** The correct data: the bodies of the REST calls, by root field. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An HTTP request, without the Host, Content-Length and Authorization headers. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Encodes an operation as the HTTP request of one kind of client. */
export type Shape = (operation: Operation) => Message | Promise<Message>;

const path = '/graphql';

/** The query and its variables as a JSON body, as in a curl command. */
export const barePost: Shape = ({ query, variables }) => post({ query, variables });

/** A POST with the hash of the document instead of its text. */
export const persistedPost: Shape = ({ query, variables }) =>
  post({ documentId: documentId(query), variables });

/** A GET with the hash of the document in the URL, which a CDN can cache. */
export const persistedGet: Shape = ({ query, variables }) => {
  const search = new URLSearchParams({
    documentId: documentId(query),
    variables: JSON.stringify(variables),
  });
  const headers = { accept: 'application/graphql-response+json' };
  return { method: 'GET', path: `${path}?${search}`, headers, body: '' };
};

/** The default request of Apollo Client in Node. */
export const apollo: Shape = ({ query, variables }) =>
  capture((uri) => {
    const client = new ApolloClient({
      link: new HttpLink({ uri }),
      cache: new InMemoryCache(),
      defaultOptions: { query: { fetchPolicy: 'no-cache' } },
    });
    return client.query({ query: gql(query), variables });
  });

/** The default request of urql in Node: a GET. */
export const urql: Shape = ({ query, variables }) =>
  capture((url) => createUrql(url).query(query, variables).toPromise());

/** The request of urql with `preferGetMethod: false`, or with a document too long for a URL. */
export const urqlPost: Shape = ({ query, variables }) =>
  capture((url) => createUrql(url).query(query, variables, { preferGetMethod: false }).toPromise());

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

/** Captures the request that `send` sends to the given URL. */
async function capture(send: (url: string) => Promise<unknown>): Promise<Message> {
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
