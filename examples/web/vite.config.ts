import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  // The page and the gateway share an origin, so CORS_ORIGINS needs no entry.
  server: { proxy: { '/graphql': process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:4000' } },
  // Only here, where the package is not installed.
  resolve: {
    alias: {
      'petstore-gateway/client': fileURLToPath(
        new URL('../../packages/client/src/index.ts', import.meta.url),
      ),
    },
  },
});
