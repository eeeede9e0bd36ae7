import { defineConfig } from 'rolldown';

/**
 * The server and most of its packages in a few files: to find and read a thousand modules took most
 * of its start. What an installation needs only for some settings, or resolves by its path, stays a
 * package. The library and the client are not bundled: their users' bundlers and types need modules.
 */
export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  tsconfig: false,
  external: [/^@opentelemetry\/(?!api$)/, '@graphql-yoga/render-graphiql', 'pg', 'yaml'],
  // The folder is as deep as those of src, so that paths to schema/ are the same.
  output: { dir: 'dist/bin', format: 'esm' },
});
