import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers a request whose Host header names no host (RFC 9110, section 7.2). */
export function refuseHost(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isGraphql?: boolean,
): void {
  const message = 'Host: expected one name or address, with its port, received something else.';
  refuse(incoming, outgoing, 400, 'BAD_REQUEST', message, isGraphql);
}

/**
 * Answers a request that goes no further than the edge: in the shape of a GraphQL error at
 * `/graphql`, as an Error body elsewhere. What the client still sends is dropped.
 */
export function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  code: string,
  message: string,
  isGraphql = incoming.url?.startsWith('/graphql'),
): void {
  incoming.resume();
  const body = isGraphql
    ? { errors: [{ message, extensions: { code } }] }
    : { code: code.toLowerCase(), message, status };
  outgoing
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(body));
}
