import { defineConfig } from 'rolldown';

/**
 * Bundles the server and most of its packages into a few files, because loading a thousand modules
 * took most of the startup time. Packages that are optional or resolved by path stay external. The
 * library and the client are not bundled, because bundlers and types need their modules.
 */
export default defineConfig({
  input: 'src/main.ts',
  platform: 'node',
  tsconfig: false,
  external: [/^@opentelemetry\/(?!api$)/, /^@graphql-yoga\/render-graphiql/, 'pg', 'yaml'],
  // This folder has the same depth as the folders in src, so that relative paths to schema/ work.
  output: { dir: 'dist/bin', format: 'esm' },
});
