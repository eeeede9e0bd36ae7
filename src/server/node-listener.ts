import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, toRequest, writeResponse } from './exchange.ts';
import { isHost } from './host.ts';
import { refuse, refuseHost } from './refuse.ts';

/**
 * A fetch handler for servers that speak `node:http`: Node's own, Express, Fastify's raw requests.
 * It reads the body itself, and refuses one that was read before. When the client leaves first, the
 * signal of the handler's request is aborted.
 */
export function createNodeListener(
  handle: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const fail = (message: string) =>
      refuse(incoming, outgoing, 500, 'INTERNAL_SERVER_ERROR', message, true);
    if (!isHost(incoming.headers.host)) return refuseHost(incoming, outgoing, true);
    if (incoming.readableDidRead) {
      return fail('The body was read before the gateway saw it: mount it ahead of body parsers.');
    }
    const client = new AbortController();
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) client.abort();
    });
    try {
      const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
      const body = hasBody ? await readBody(incoming) : undefined;
      await writeResponse(await handle(toRequest(incoming, body, client.signal)), outgoing);
    } catch {
      if (incoming.errored || client.signal.aborted || outgoing.headersSent) return;
      fail('Something went wrong here.');
    }
  };
}
