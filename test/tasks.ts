import { parts } from './parts.ts';

const checks = 'test/checks/node_modules/.bin';
const client = 'npm run -s build --workspace packages/client';
const fuzz = `FUZZ_RUNS=\${FUZZ_RUNS:-100000} FUZZ_SEED=\${FUZZ_SEED:-$(date +%s)} vitest run`;

/** The commands that only maintainers need, by the name for `npm run dev`. They run in the root. */
export const tasks: Readonly<Record<string, string>> = {
  'check:codegen': 'graphql-codegen --check --silent || graphql-codegen --check',
  'check:declarations': 'node schema/declarations.ts',
  'check:dependencies': 'node test/dependencies.ts',
  'check:deploy': `${checks}/dclint --max-warnings 0 --config test/checks/.dclintrc.json compose.yaml`,
  'check:imports': `${checks}/depcruise src packages/client/src`,
  'check:lint': 'biome check .',
  'check:names': 'node schema/names.ts',
  'check:openapi': `REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true ${checks}/redocly lint schema/openapi.yaml`,
  'check:package': `npm run -s build && tsc -p examples/web && ${checks}/publint --strict . && ${checks}/publint --strict packages/client`,
  'check:pages': 'node test/pages.ts',
  'check:schema': 'node schema/changes.ts',
  'check:spelling': `${checks}/cspell lint --config test/checks/cspell.json --no-progress --no-summary`,
  'check:tools':
    '[ test/checks/node_modules/.package-lock.json -nt test/checks/package-lock.json ] || npm ci --silent --prefix test/checks',
  'check:types': 'tsc',
  ...Object.fromEntries(
    Object.keys(parts).map((name) => [`test:${name}`, `vitest run --project ${name}`]),
  ),
  'test:deploy':
    'vitest run --project deploy && node test/image/main.ts && node test/failover/main.ts 1',
  'test:all': `node test/steps.ts --at-once=3 test then ${others()} test:longer then test:hostile`,
  'test:changing': 'vitest run test/docs/changing.test.ts',
  'test:failover': 'node test/failover/main.ts',
  'test:longer': `FUZZ_RUNS=40 vitest run test/yoga/plugins-differential && FUZZ_RUNS=20000 vitest run test/backends/write-races`,
  'test:hosts': 'vitest run test/docs/hosts',
  'test:image': 'node test/image/main.ts',
  mutants: 'node test/mutants/main.ts',
  'fuzz:execution': `${fuzz} test/execution/generated`,
  'fuzz:rest': `${fuzz} test/backends/rest/generated-responses`,
  'bench:database': 'node bench/database.ts',
  'bench:first-part': 'node bench/first-part.ts',
  'bench:import': 'npm run -s build && node bench/import.ts',
  'bench:scale': 'npm run -s build && node bench/scale.ts',
  'bench:soak': 'node bench/soak.ts',
  screenshots: `node test/screenshots/graphiql.ts && ${client} && node test/screenshots/web.ts`,
};

/** The parts of the tests but for the attacks, which need idle cores. */
function others(): string {
  const names = Object.keys(parts).filter((name) => name !== 'hostile');
  return names.map((name) => `test:${name}`).join(' ');
}
