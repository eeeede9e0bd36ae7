import { createServer } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { loadConfig, usePetStore } from 'petstore-gateway/schema';
import { schema } from './schema.ts';

/** Creates a server with the configuration of this environment. Closing it closes the plugin. */
export async function openServer(env: Readonly<Record<string, string | undefined>>) {
  const yoga = createYoga({
    schema,
    plugins: [await usePetStore(loadConfig(env))],
    // By default, every origin may call, with credentials.
    cors: false,
    // By default, any page may submit a mutation as a form.
    multipart: false,
    // Loads its scripts from unpkg.com.
    graphiql: false,
    landingPage: false,
    // By default, every URL that ends in /health is one.
    healthCheckEndpoint: '/graphql/livez',
  });
  const server = createServer(yoga);
  server.on('close', () => yoga.dispose());
  return server;
}
