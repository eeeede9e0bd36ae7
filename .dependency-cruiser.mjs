/** Who may import whom: data flows HTTP edge → GraphQL → contract → backend, never back. */
const rooms = {
  '^src/contract/': ['^src/contract/'],
  '^src/config/': ['^src/config/'],
  '^src/tls-files\\.ts$': [],
  '^src/redis\\.ts$': [],
  '^src/node-version\\.ts$': [],
  // Of the contract only types, too.
  '^src/telemetry/': ['^src/(?:telemetry|contract)/'],
  '^src/execution/': ['^src/execution/'],
  '^src/limits/': ['^src/(?:keys|limits)/'],
  '^src/keys/': ['^src/(?:keys|limits)/', '^src/contract/caller\\.ts$'],
  '^src/graphql/': ['^src/(?:graphql|contract)/'],
  '^src/conformance/': ['^src/(?:conformance|contract)/'],
  '^src/v1/': ['^src/(?:v1|contract|http|request)/'],
  '^src/http/': ['^src/(?:http|request|contract|limits|telemetry)/'],
  '^src/request/': [
    '^src/(?:request|http|v1|yoga|contract|keys|limits|telemetry)/',
    '^src/redis\\.ts$',
  ],
  '^src/yoga/': ['^src/(?:yoga|request|http|graphql|execution|contract|keys|limits|telemetry)/'],
  '^src/backends/rest/': [
    '^src/backends/rest/',
    '^src/(?:contract|keys|limits|telemetry)/',
    '^src/tls-files\\.ts$',
  ],
  '^src/backends/builtin/': [
    '^src/backends/builtin/',
    '^src/(?:contract|keys|limits|telemetry)/',
    '^src/writes/result\\.ts$',
  ],
  // Whatever names the pet store.
  '^src/petstore/': [
    '^src/(?:petstore|contract|graphql|conformance|backends|writes|keys|telemetry)/',
    '^src/tls-files\\.ts$',
  ],
  '^src/writes/': ['^src/(?:writes|contract|keys|limits|telemetry)/', '^src/redis\\.ts$'],
  '^src/gateway\\.ts$': ['^src/(?:petstore|http|request|yoga|v1)/'],
  '^src/cli/': [
    '^src/(?:cli|workers|config|petstore|http|request|yoga|keys|v1|conformance|contract|telemetry)/',
    '^src/(?:tls-files|gateway)\\.ts$',
  ],
  '^src/mounted\\.ts$': ['^src/(?:config|http|request|yoga|telemetry)/', '^src/gateway\\.ts$'],
  '^src/index\\.ts$': [
    '^src/(?:config|http|yoga|telemetry)/',
    '^src/(?:node-version|mounted)\\.ts$',
  ],
  '^src/schema\\.ts$': [
    '^src/(?:config|petstore|graphql|http|request|yoga|telemetry)/',
    '^src/(?:node-version|mounted|contract/error)\\.ts$',
  ],
  '^src/workers/': ['^src/(?:workers|http|request|telemetry)/'],
  '^src/bin\\.ts$': ['^src/(?:node-version|main)\\.ts$'],
  '^src/main\\.ts$': ['^src/(?:config|cli)/'],
};

/** The packages of the product, which the build puts into it, and the one place that knows each. */
const packages = {
  undici: '^src/backends/rest/',
  'node:sqlite': '^src/backends/builtin/sqlite\\.ts$',
  '@redis/client': '^src/redis\\.ts$',
  pg: '^src/backends/builtin/postgres\\.ts$',
  'graphql-yoga': '^src/(?:yoga/|schema\\.ts$)',
  hono: '^src/http/media-type\\.ts$',
  '@pothos/core': '^src/(?:petstore/)?graphql/',
  dataloader: '^src/graphql/calls\\.ts$',
  kysely: '^src/(?:backends|petstore)/builtin/',
  'lru-cache': '^src/yoga/(?:persisted|prepared)-documents\\.ts$',
  pino: '^src/telemetry/log\\.ts$',
  commander: '^src/main\\.ts$',
  leven: '^src/(?:main|config/environment|graphql/invalid-input)\\.ts$',
  yaml: '^src/v1/reference\\.ts$',
  graphql: '^src/(?:(?:petstore/)?(?:graphql|execution|yoga)/|schema\\.ts$)',
  '@graphql-yoga/render-graphiql': '^src/http/assets\\.ts$',
  '@prometheus-io/client': '^src/(?:telemetry/metrics|workers/worker)\\.ts$',
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
      from: { path: '^src', pathNot: '^src/bin\\.ts$', orphan: true },
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
      name: 'telemetry-imports-only-types',
      severity: 'error',
      from: { path: '^src/telemetry/' },
      to: { path: '^src/contract/', dependencyTypesNot: ['type-only'] },
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
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node'] },
  },
};
