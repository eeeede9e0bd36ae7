import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { Gateway, NodeListener } from '../../src/index.ts';
import { installed, isConsumerInstalled } from './consumer.ts';
import { startServer } from './server.ts';

/** A server with its own route `/hello` and the gateway at `/api/graphql`. */
interface Mounted extends AsyncDisposable {
  readonly url: string;
}

/** Mounts a gateway in a server of `node:http`. */
export function mountInNode(gateway: Gateway): Promise<Mounted> {
  const listener = gateway.nodeListener;
  return startServer(
    createServer((incoming, outgoing) => {
      if (incoming.url?.startsWith('/api/graphql')) listener(incoming, outgoing);
      else outgoing.end('hello');
    }),
  );
}

const requireInstalled = createRequire(`${installed}/`);

/** The part of Express that a mounted gateway needs. */
interface Express extends RequestListener {
  get(
    path: string,
    handle: (request: unknown, response: { send(text: string): void }) => void,
  ): void;
  use(path: string, listener: RequestListener): void;
}

function mountInExpress(gateway: Gateway): Promise<Mounted> {
  const createExpress: () => Express = requireInstalled('express');
  const app = createExpress();
  app.get('/hello', (_request, response) => response.send('hello'));
  app.use('/api/graphql', gateway.nodeListener);
  return startServer(createServer(app));
}

/** The part of Fastify that a mounted gateway needs. */
interface Fastify {
  get(path: string, handle: () => Promise<string>): void;
  all(
    path: string,
    handle: (
      request: { readonly raw: Parameters<NodeListener>[0] },
      reply: { readonly raw: Parameters<NodeListener>[1]; hijack(): void },
    ) => void,
  ): void;
  register(add: (scope: Fastify) => Promise<void>): void;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: '*',
    parse: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void;
  listen(options: { readonly port: number; readonly host: string }): Promise<string>;
  close(): Promise<void>;
}

async function mountInFastify(gateway: Gateway): Promise<Mounted> {
  const createFastify: (options: object) => Fastify = requireInstalled('fastify');
  const app = createFastify({ forceCloseConnections: true });
  const listener = gateway.nodeListener;
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

/** Mounts a gateway in each server; in Fastify and Express only if test/consumers is installed. */
export const mounts: readonly (readonly [string, (gateway: Gateway) => Promise<Mounted>])[] = [
  ['node:http', mountInNode],
  ...(isConsumerInstalled
    ? ([
        ['Fastify', mountInFastify],
        ['Express', mountInExpress],
      ] as const)
    : []),
];
