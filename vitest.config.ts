import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { parts } from './test/parts.ts';

// The conditions that Node itself resolves by. With others, tests and code get different copies of a
// package, which do not know each other's types.
const ssr = { resolve: { conditions: ['node', 'module-sync', 'default'] } };

// examples/yoga, without a build.
const alias = { 'petstore-gateway/schema': new URL('src/schema.ts', import.meta.url).pathname };

/** Files that measure the heap of their process, which no other file may use. */
const memory = [
  'test/backends/rest/bodies.test.ts',
  'test/http/static-file.test.ts',
  'test/yoga/document-cache.test.ts',
];

const folders = Object.keys(parts).map((name) => `test/${name}/**`);

/** `npm run check` installs tools below `test`. */
const installed = '**/node_modules/**';

const project = (name: string, test: object): TestProjectConfiguration => ({
  extends: true,
  test: { name, ...test },
});

export default defineConfig({
  ssr,
  resolve: { alias },
  test: {
    globalSetup: ['left-out', 'no-keys-logged', 'open-shared'].map(
      (name) => `test/support/${name}.ts`,
    ),
    // By default one core would be left for others; the tests mostly wait.
    maxWorkers: '100%',
    // Files share workers, which have loaded most modules already.
    isolate: false,
    // Tests of what is kept collect garbage themselves.
    execArgv: ['--expose-gc'],
    setupFiles: ['test/support/patience.ts'],
    // They end what hangs, and must not end what is slow on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      project('product', {
        include: ['test/**/*.test.ts'],
        exclude: [...folders, ...memory, installed],
      }),
      project('memory', { include: memory, isolate: true }),
      ...Object.keys(parts).map((name) =>
        project(name, {
          include: [`test/${name}/**/*.test.ts`],
          exclude: [installed],
          fileParallelism: name !== 'hostile',
        }),
      ),
    ],
  },
});
