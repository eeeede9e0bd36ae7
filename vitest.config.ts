import { defineConfig } from 'vitest/config';

// The conditions that Node itself resolves by. With others, tests and code get different copies of a
// package, which do not know each other's types.
const ssr = { resolve: { conditions: ['node', 'module-sync', 'default'] } };

// examples/yoga, without a build.
const alias = { 'petstore-gateway/schema': new URL('src/schema.ts', import.meta.url).pathname };

export default defineConfig({
  ssr,
  resolve: { alias },
  test: {
    globalSetup: 'test/support/no-keys-logged.ts',
    include: ['test/**/*.test.ts'],
    // By default one core would be left for others; the tests mostly wait.
    maxWorkers: '100%',
    // Tests of what is kept collect garbage themselves.
    execArgv: ['--expose-gc'],
    // Many tests start processes, which takes long on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
