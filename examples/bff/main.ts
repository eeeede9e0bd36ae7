import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { serve } from '@hono/node-server';
import { print } from 'graphql';
import { Hono } from 'hono';
import { createGateway, loadConfig } from 'petstore-gateway';
import { isGatewayError, StorefrontDocument } from 'petstore-gateway/client';

/** How long a request to this server may take, in milliseconds. */
const deadlineMs = 2000;

const gateway = await createGateway(loadConfig({ LOG_LEVEL: 'warn', ...process.env }));

/** Asks the gateway in this process on behalf of a request: with its key, trace and deadline. */
async function ask<Data, Variables>(
  request: Request,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<{ data?: Data | null; errors?: readonly unknown[] }> {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of ['authorization', 'traceparent', 'x-request-id']) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const response = await gateway(
    new Request('http://gateway/graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: print(document), variables }),
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(deadlineMs)]),
    }),
  );
  return response.json();
}

const app = new Hono();

// One endpoint, three REST calls. What came in time is answered, and what did not is named.
app.get('/storefront', async (context) => {
  const { data, errors = [] } = await ask(context.req.raw, StorefrontDocument, { limit: 3 });
  if (errors.some((error) => isGatewayError(error, 'UNAUTHENTICATED'))) {
    return context.json({ problem: 'Send an API key: "Authorization: Bearer <key>".' }, 401);
  }
  if (!data) return context.json({ problem: 'The store can not be asked.' }, 502);
  // An error within a field, such as an unknown status, leaves the rest of the field there.
  const failed = errors.filter((error) => isGatewayError(error)).map(({ path = [] }) => path);
  const missing = failed.flatMap(([field, ...within]) => (within.length === 0 ? [field] : []));
  return context.json({
    available: data.available?.map(({ name }) => name),
    pending: data.pending?.map(({ name }) => name),
    orders: Array.isArray(data.orders) ? data.orders.length : undefined,
    missing,
  });
});

// The gateway itself, next to the endpoints of this server.
app.all('/graphql', (context) => gateway(context.req.raw));

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) },
  ({ port }) => {
    const url = `http://127.0.0.1:${port}`;
    process.stdout.write(`Storefront  ${url}/storefront\nGraphQL     ${url}/graphql\n`);
  },
);
process.once('SIGTERM', () => {
  server.close(() => gateway[Symbol.asyncDispose]());
});
