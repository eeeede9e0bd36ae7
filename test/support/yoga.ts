import { createServer } from 'node:http';
import { openServer } from '../../examples/yoga/server.ts';
import { createGateway, createNodeListener, loadConfig } from '../../src/index.ts';
import { startServer } from './mounted.ts';

type Environment = Readonly<Record<string, string>>;

/** Starts examples/yoga with this environment. Disposing it disposes the plugin, too. */
export async function startYoga(env: Environment) {
  return startServer(await openServer({ LOG_LEVEL: 'silent', ...env }));
}

/** Starts a gateway with this environment. */
export async function startMounted(env: Environment) {
  const gateway = await createGateway(loadConfig({ LOG_LEVEL: 'silent', ...env }));
  const server = await startServer(createServer(createNodeListener(gateway)));
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/** Sends a body to a server, with an API key. Other headers replace these. */
export function postTo(
  { url }: { readonly url: string },
  body: string,
  init: Omit<RequestInit, 'body'> = {},
): Promise<Response> {
  const authorization = 'Bearer a-key-of-a-test';
  const headers = { 'content-type': 'application/json', authorization, ...init.headers };
  return fetch(`${url}/graphql`, { method: 'POST', ...init, body, headers });
}
