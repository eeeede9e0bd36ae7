import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { startServer } from './server.ts';

/** A request that the upstream received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/**
 * Starts an HTTP server in place of the REST service. It records every request and calls `respond`.
 */
export async function startUpstream(
  respond: (request: SeenRequest, response: ServerResponse) => void,
) {
  const seen: SeenRequest[] = [];
  const server = await startServer(
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method = '', url = '', headers } = request;
      const received = { method, url, headers, body };
      seen.push(received);
      respond(received, response);
    }),
  );
  return { ...server, seen };
}

/** Sends a response with this status and JSON body. */
export function sendJson(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** Starts a service that responds with an empty list when the value of `pending` is called. */
export async function startHoldingUpstream() {
  const { promise: pending, resolve } = Promise.withResolvers<() => void>();
  const upstream = await startUpstream((_, response) =>
    resolve(() => sendJson(response, 200, '[]')),
  );
  return { ...upstream, pending };
}
