import { defineConfig } from 'vitest/config';

// The conditions that Node itself resolves by. With others, tests and code get different copies of a
// package, which do not know each other's types.
const ssr = { resolve: { conditions: ['node', 'module-sync', 'default'] } };

export default defineConfig({
  ssr,
  test: {
    globalSetup: 'test/support/no-keys-logged.ts',
    projects: [
      { ssr, test: { name: 'all', include: ['test/**/*.test.ts'] } },
      {
        // Once more for what GraphQL promises, on the short way of a plain JSON post. Each operation
        // is sent three times there: by the plugins, while it is prepared, and as prepared.
        ssr,
        test: {
          name: 'short way',
          include: ['test/graphql/**/*.test.ts', 'test/server/operation-limits.test.ts'],
          env: { GRAPHQL_WAY: 'post' },
        },
      },
    ],
  },
});
