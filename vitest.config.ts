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
        // Once more for what GraphQL and HTTP promise, on the other of the two ways that a plain JSON
        // post can take. Without a socket it is the short one, and each operation is sent three times
        // there: by the plugins, while it is prepared, and as prepared.
        ssr,
        test: {
          name: 'other way',
          include: [
            'test/{clients,graphql,server,telemetry}/**/*.test.ts',
            'test/backends/faults.test.ts',
          ],
          // It goes both ways itself.
          exclude: ['test/server/two-ways.test.ts'],
          env: { GRAPHQL_WAY: 'other' },
        },
      },
    ],
  },
});
