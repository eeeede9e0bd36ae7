import { randomUUID } from 'node:crypto';
import { createYoga } from 'graphql-yoga';
import type { PetStore } from '../contract/pet-store.ts';
import { createContext, type GatewayContext } from '../graphql/context.ts';
import { schema } from '../graphql/schema.ts';
import type { Log } from '../telemetry/log.ts';
import { createV1 } from '../v1/routes.ts';
import { createCors } from './cors.ts';
import { graphiqlOptions, renderGraphiql } from './graphiql.ts';
import { useExactJson } from './plugins/use-exact-json.ts';
import { useHiddenSchema } from './plugins/use-hidden-schema.ts';
import { type OperationLimits, useOperationLimits } from './plugins/use-operation-limits.ts';
import { useTypedErrors } from './plugins/use-typed-errors.ts';

/** What a gateway serves, and from where. */
export interface GatewayOptions {
  readonly petStore: PetStore;
  readonly log: Log;
  /** Serve GraphiQL to browsers at `/graphql`. */
  readonly graphiql: boolean;
  /** Answer introspection, and suggest names where one is misspelt. */
  readonly introspection: boolean;
  readonly operationLimits: OperationLimits;
  /** The origins whose pages may call the gateway from a browser. */
  readonly corsOrigins: readonly string[];
  /** Serve the store's REST interface too, at `/v1` and `/quickstart`. */
  readonly v1: boolean;
  /** The key that GraphiQL's headers pane starts with. */
  readonly demoKey?: string | undefined;
  /** Whether new requests are welcome; `/readyz` tells. */
  readonly isReady?: () => boolean;
}

/** What Yoga and its plugins know of a request besides the request itself. */
export interface ServerContext {
  readonly requestId: string;
}

/** Answers requests to every address of the gateway. Never throws. */
export type Gateway = (request: Request) => Promise<Response>;

/** Builds the gateway: GraphQL, GraphiQL, health and, if asked for, the REST interface. */
export function createGateway(options: GatewayOptions): Gateway {
  const reportError = (error: unknown, requestId: string) =>
    options.log.error({ err: error, requestId }, 'unexpected error');
  const yoga = openYoga(options, reportError);
  const v1 = options.v1 && createV1({ petStore: options.petStore, reportError });
  const isReady = options.isReady ?? (() => true);
  const cors = createCors(options.corsOrigins);

  const pages: Readonly<Record<string, () => Response>> = {
    '/': () => redirect('/graphql'),
    '/livez': () => text(200, 'live'),
    '/readyz': () => (isReady() ? text(200, 'ready') : text(503, 'not ready')),
  };

  const route = async (request: Request, requestId: string): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/graphql') return yoga.handleRequest(request, { requestId });
    if (v1 && /^\/(?:v1|quickstart)\//.test(pathname)) return v1(request, requestId);
    const answer = pages[pathname];
    if (answer === undefined) return problem(404, 'There is nothing at this address.');
    if (request.method === 'GET' || request.method === 'HEAD') return answer();
    return problem(405, `This address answers GET, received ${request.method}.`, 'GET, HEAD');
  };

  return async (request) => {
    const requestId = readRequestId(request);
    const response = cors.preflight(request) ?? (await route(request, requestId));
    cors.expose(request, response);
    response.headers.set('x-request-id', requestId);
    return response;
  };
}

function openYoga(
  options: GatewayOptions,
  reportError: (error: unknown, requestId: string) => void,
) {
  const { petStore } = options;
  return createYoga<ServerContext, GatewayContext>({
    schema,
    context: ({ request, requestId }) =>
      createContext({
        petStore,
        authorization: request.headers.get('authorization'),
        requestId,
        signal: request.signal,
      }),
    plugins: [
      useExactJson(),
      useOperationLimits(options.operationLimits),
      !options.introspection && useHiddenSchema(),
      // Last, so that the errors of all the others pass through it.
      useTypedErrors(reportError),
    ],
    graphiql: options.graphiql ? () => graphiqlOptions(options.demoKey) : false,
    renderGraphiQL: renderGraphiql,
    // The plugins above and the routes do these jobs.
    cors: false,
    maskedErrors: false,
    logging: false,
    multipart: false,
    maxRequestBodySize: false,
    landingPage: false,
    // Yoga answers every URL that ends like this one; with a space in it, none does.
    healthCheckEndpoint: ' ',
  });
}

/** A request's own id if it is short and plain enough for logs and headers, else a new one. */
function readRequestId(request: Request): string {
  const given = request.headers.get('x-request-id');
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

function text(status: number, body: string): Response {
  return new Response(`${body}\n`, { status, headers: { 'content-type': 'text/plain' } });
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}

function problem(status: 404 | 405, message: string, allow?: string): Response {
  const code = status === 404 ? 'not_found' : 'method_not_allowed';
  return new Response(JSON.stringify({ code, message, status }), {
    status,
    headers: { 'content-type': 'application/json', ...(allow && { allow }) },
  });
}
