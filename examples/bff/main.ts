import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createGateway, loadConfig } from 'petstore-gateway';
import { isGatewayError, StorefrontDocument } from 'petstore-gateway/client';

/** The deadline of a request to this server, in milliseconds. */
const deadlineMs = 2000;

const gateway = await createGateway(loadConfig({ LOG_LEVEL: 'warn', ...process.env }));

const app = new Hono();

// One endpoint, three REST calls. The response contains the fields that arrived before the deadline
// and lists those that did not.
app.get('/storefront', async (context) => {
  const { signal } = context.req.raw;
  const { data, errors = [] } = await gateway.execute(
    StorefrontDocument,
    { limit: 3 },
    {
      authorization: context.req.header('authorization'),
      requestId: context.req.header('x-request-id'),
      traceparent: context.req.header('traceparent'),
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
    },
  );
  if (errors.some((error) => isGatewayError(error, 'UNAUTHENTICATED'))) {
    return context.json({ problem: 'Send an API key: "Authorization: Bearer <key>".' }, 401);
  }
  if (!data) return context.json({ problem: 'The pet store is unavailable.' }, 502);
  // An error below a root field, such as an unknown status, leaves the rest of that field intact.
  const failed = errors.filter((error) => isGatewayError(error)).map(({ path = [] }) => path);
  const missing = failed.flatMap(([field, ...within]) => (within.length === 0 ? [field] : []));
  return context.json({
    available: data.available?.map(({ name }) => name),
    pending: data.pending?.map(({ name }) => name),
    orders: Array.isArray(data.orders) ? data.orders.length : undefined,
    missing,
  });
});

// The gateway itself, beside the server's own endpoints.
app.all('/graphql', (context) => gateway(context.req.raw));

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) },
  ({ port }) => {
    const url = `http://127.0.0.1:${port}`;
    const storefront = `curl -H 'Authorization: Bearer demo-key' ${url}/storefront`;
    process.stdout.write(`GraphQL     ${url}/graphql\nStorefront  ${storefront}\n`);
  },
);
process.once('SIGTERM', () => {
  server.close(() => gateway[Symbol.asyncDispose]());
});
