import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, expect, vi } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { startIn } from '../../support/process.ts';
import { installPackages, registryTest } from '../../support/registry.ts';
import { startServer } from '../../support/server.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 1_200_000 });

const packages = [
  '@opentelemetry/api@1.10.0',
  '@opentelemetry/context-async-hooks@3.1.1',
  '@opentelemetry/core@3.1.1',
  '@opentelemetry/instrumentation-undici@0.34.0',
  '@opentelemetry/sdk-trace@3.1.1',
];

const folder = createFolder();
beforeAll(() => installPackages(folder, packages));

/** Starts a span for each request. `GET /traces` returns their trace ids by request id. */
const host = `import { createServer } from 'node:http';
import { ROOT_CONTEXT, context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { createGateway, loadConfig } from '${import.meta.resolve('../../../src/index.ts')}';
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
trace.setGlobalTracerProvider(new TracerProvider());
new UndiciInstrumentation();
const gateway = await createGateway(loadConfig(process.env));
const traces = {};
const server = createServer((request, response) => {
  if (request.url === '/traces') return response.end(JSON.stringify(traces));
  const span = trace.getTracer('host').startSpan('request', {}, ROOT_CONTEXT);
  traces[request.headers['x-request-id']] = span.spanContext().traceId;
  context.with(trace.setSpan(ROOT_CONTEXT, span), () => gateway.nodeListener(request, response));
});
server.listen(0, '127.0.0.1', () => {
  console.log(\`GraphQL  http://127.0.0.1:\${server.address().port}/graphql\`);
});`;

registryTest("each REST call has one traceparent, that of the host's instrumentation", async () => {
  await writeFile(join(folder, 'host.mjs'), host);
  const sent: Record<string, string[]> = {};
  const first = Promise.withResolvers<void>();
  const service = createServer(async ({ headers, rawHeaders }, response) => {
    const lines = rawHeaders.filter((_, index) => rawHeaders[index - 1] === 'traceparent');
    sent[String(headers['x-request-id'])] = lines;
    // Other calls wait for a place until then.
    await first.promise;
    response.setHeader('content-type', 'application/json').end('[]');
  });
  await using upstream = await startServer(service);
  const env = { PETSTORE_BASE_URL: `${upstream.url}/v1`, LOG_LEVEL: 'warn' };
  await using server = await startIn(folder, ['host.mjs'], env);
  expect(server.url, server.output.stderr).not.toBe('');
  const post = async (index: number) => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer key-${index % 10}`,
        'content-type': 'application/json',
        'x-request-id': `request-${index}`,
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
      body: JSON.stringify({ query: `{ pets(limit: ${(index % 100) + 1}) { id } }` }),
    });
    expect(await response.json()).toEqual({ data: { pets: [] } });
  };
  const posts = Array.from({ length: 100 }, (_, index) => post(index));
  await vi.waitFor(() => expect(Object.keys(sent).length).toBeGreaterThan(60));
  first.resolve();
  await Promise.all(posts);
  const traces: Record<string, string> = await (await fetch(`${server.url}/traces`)).json();
  expect(Object.keys(sent)).toHaveLength(100);
  for (const [id, lines] of Object.entries(sent)) {
    expect(lines).toEqual([expect.stringMatching(`^00-${traces[id]}-[0-9a-f]{16}-01$`)]);
  }
});
