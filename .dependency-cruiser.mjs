/** Who may import whom: data flows HTTP edge → GraphQL → contract → backend, never back. */
const rooms = {
  '^src/contract/': ['^src/contract/'],
  '^src/http/': ['^src/http/', '^src/contract/', '^src/once\\.ts$'],
  '^src/variables\\.ts$': [],
  '^src/config\\.ts$': ['^src/variables\\.ts$'],
  '^src/telemetry/': ['^src/telemetry/'],
  '^src/(?:assets|end-of-turn|once|places)\\.ts$': [],
  '^src/graphql/': ['^src/graphql/', '^src/contract/'],
  '^src/v1/': ['^src/v1/', '^src/contract/', '^src/http/', '^src/assets\\.ts$'],
  '^src/conformance/': ['^src/conformance/', '^src/contract/'],
  '^src/backends/rest/': [
    '^src/backends/rest/',
    '^src/contract/',
    '^src/(?:end-of-turn|places)\\.ts$',
    '^src/telemetry/',
  ],
  '^src/backends/builtin/': ['^src/backends/builtin/', '^src/contract/', '^src/telemetry/'],
  '^src/backends/open\\.ts$': ['^src/backends/', '^src/contract/', '^src/telemetry/'],
  '^src/execution/': ['^src/execution/'],
  '^src/server/': [
    '^src/server/',
    '^src/execution/',
    '^src/graphql/',
    '^src/v1/',
    '^src/contract/',
    '^src/http/',
    '^src/(?:assets|end-of-turn|places)\\.ts$',
    '^src/telemetry/',
  ],
  '^src/app\\.ts$': [
    '^src/server/',
    '^src/v1/',
    '^src/backends/open\\.ts$',
    '^src/http/',
    '^src/contract/',
    '^src/telemetry/',
  ],
  '^src/commands/': [
    '^src/commands/',
    '^src/app\\.ts$',
    '^src/server/',
    '^src/backends/open\\.ts$',
    '^src/v1/',
    '^src/conformance/',
    '^src/contract/',
    '^src/telemetry/',
  ],
  '^src/index\\.ts$': [
    '^src/app\\.ts$',
    '^src/config\\.ts$',
    '^src/once\\.ts$',
    '^src/server/',
    '^src/telemetry/',
  ],
  '^src/workers/': ['^src/workers/', '^src/commands/', '^src/server/', '^src/telemetry/'],
  '^src/main\\.ts$': [
    '^src/variables\\.ts$',
    '^src/config\\.ts$',
    '^src/commands/',
    '^src/workers/',
    '^src/telemetry/',
  ],
};

/** The packages of the product, which the build puts into it, and the one place that knows each. */
const packages = {
  undici: '^src/backends/rest/',
  'node:sqlite': '^src/backends/builtin/sqlite\\.ts$',
  pg: '^src/backends/builtin/postgres\\.ts$',
  'graphql-yoga': '^src/server/',
  '@pothos/core': '^src/graphql/',
  dataloader: '^src/graphql/',
  kysely: '^src/backends/builtin/',
  pino: '^src/telemetry/log\\.ts$',
  commander: '^src/main\\.ts$',
  yaml: '^src/v1/openapi\\.ts$',
  graphql: '^src/(?:graphql|execution|server)/',
  '@graphql-yoga/render-graphiql': '^src/server/graphiql\\.ts$',
  '@prometheus-io/client': '^src/telemetry/metrics\\.ts$',
  '@opentelemetry/api': '^src/telemetry/otlp-tracing\\.ts$',
  '@opentelemetry/exporter-trace-otlp-http': '^src/telemetry/otlp-tracing\\.ts$',
  '@opentelemetry/resources': '^src/telemetry/otlp-tracing\\.ts$',
  '@opentelemetry/sdk-trace': '^src/telemetry/otlp-tracing\\.ts$',
};

export default {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: { path: '^src' }, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/main\\.ts$', orphan: true },
      to: {},
    },
    {
      name: 'packages-of-the-product',
      severity: 'error',
      from: { path: '^src' },
      to: {
        path: '^node_modules/',
        pathNot: `^node_modules/(?:${Object.keys(packages).join('|')})/`,
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: { path: '^src' },
      to: { couldNotResolve: true },
    },
    {
      name: 'client-on-its-own',
      severity: 'error',
      from: { path: '^packages/client/' },
      // Of graphql only types: the client has no dependencies.
      to: { pathNot: '^packages/client/', dependencyTypesNot: ['type-only'] },
    },
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `imports-of-${room.replace(/[^a-z0-9/]/g, '').replace(/^src\//, '')}`,
      severity: 'error',
      from: { path: room },
      to: { path: '^src/', pathNot: allowed },
    })),
    ...Object.entries(packages).map(([name, home]) => ({
      name: `only-home-of-${name}`,
      severity: 'error',
      from: { path: '^src/', pathNot: home },
      to: {
        path: name.startsWith('node:') ? `^(node:)?${name.slice(5)}$` : `^node_modules/${name}/`,
      },
    })),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node'] },
  },
};
