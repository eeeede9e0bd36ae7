import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vitest asks for graphql's development build and Node does not: two copies of it would not know
  // each other's types.
  ssr: { resolve: { conditions: ['node', 'import', 'module', 'default'] } },
  test: { include: ['test/**/*.test.ts'], globalSetup: 'test/support/no-keys-logged.ts' },
});
