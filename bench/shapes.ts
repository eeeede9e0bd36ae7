import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';

/** A document with its variables. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
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
export const barePost: Shape = ({ query, variables }) => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query, variables }),
});

/** The default request of Apollo Client in Node, recorded from the client. */
export const apollo: Shape = async ({ query, variables }) => {
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
    const client = new ApolloClient({
      link: new HttpLink({ uri: `http://127.0.0.1:${port}${path}` }),
      cache: new InMemoryCache(),
      defaultOptions: { query: { fetchPolicy: 'no-cache' } },
    });
    await client.query({ query: gql(query), variables });
    return await received.promise;
  } finally {
    server.close().closeAllConnections();
  }
};
