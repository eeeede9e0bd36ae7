import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import fastify from 'fastify';
import { createNodeListener, type Gateway } from '../../src/index.ts';
import { installed, isConsumerInstalled } from './consumer.ts';
import { startServer } from './server.ts';

/** A server with its own route `/hello` and the gateway at `/api/graphql`. */
export interface Mounted extends AsyncDisposable {
  readonly url: string;
}

/** Mounts a gateway in a server of `node:http`. */
export function mountInNode(gateway: Gateway): Promise<Mounted> {
  const listener = createNodeListener(gateway);
  return startServer(
    createServer((incoming, outgoing) => {
      if (incoming.url?.startsWith('/api/graphql')) listener(incoming, outgoing);
      else outgoing.end('hello');
    }),
  );
}

/** The part of Express that a mounted gateway needs; Express has no types of its own. */
interface Express extends RequestListener {
  get(
    path: string,
    handle: (request: unknown, response: { send(text: string): void }) => void,
  ): void;
  use(path: string, listener: RequestListener): void;
}

function mountInExpress(gateway: Gateway): Promise<Mounted> {
  const createExpress: () => Express = createRequire(`${installed}/`)('express');
  const app = createExpress();
  app.get('/hello', (_request, response) => response.send('hello'));
  app.use('/api/graphql', gateway.nodeListener);
  return startServer(createServer(app));
}

async function mountInFastify(gateway: Gateway): Promise<Mounted> {
  const app = fastify({ forceCloseConnections: true });
  const listener = createNodeListener(gateway);
  app.get('/hello', async () => 'hello');
  app.register(async (scope) => {
    // The gateway reads the body itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/api/graphql', (request, reply) => {
      reply.hijack();
      return listener(request.raw, reply.raw);
    });
  });
  return {
    url: await app.listen({ port: 0, host: '127.0.0.1' }),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Mounts a gateway in each server; in Express only if test/consumers is installed. */
export const mounts: readonly (readonly [string, (gateway: Gateway) => Promise<Mounted>])[] = [
  ['node:http', mountInNode],
  ['Fastify', mountInFastify],
  ...(isConsumerInstalled ? ([['Express', mountInExpress]] as const) : []),
];
