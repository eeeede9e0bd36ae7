import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The conditions that Node itself resolves by. With others, tests and code get different copies of
  // a package, which do not know each other's types.
  ssr: { resolve: { conditions: ['node', 'module-sync', 'default'] } },
  test: { include: ['test/**/*.test.ts'], globalSetup: 'test/support/no-keys-logged.ts' },
});
