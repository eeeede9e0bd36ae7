import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // The page and the gateway share an origin, so CORS_ORIGINS needs no entry.
  server: { proxy: { '/graphql': process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:4000' } },
});
