import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, toRequest, writeResponse } from './exchange.ts';
import { refuseHost } from './refuse.ts';

/**
 * A fetch handler for servers that speak `node:http`: Node's own, Express, Fastify's raw requests.
 * It reads the body itself, so nothing may have read it before. When the client leaves first, the
 * signal of the handler's request is aborted.
 */
export function createNodeListener(
  handle: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const client = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) client.abort();
    });
    try {
      const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
      const body = hasBody ? await readBody(incoming) : undefined;
      await writeResponse(await handle(toRequest(incoming, body, client.signal)), outgoing);
    } catch {
      if (incoming.errored || client.signal.aborted) return;
      // The gateway never throws: what does is a Host that no URL can hold.
      refuseHost(incoming, outgoing);
    }
  };
}
