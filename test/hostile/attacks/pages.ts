import type { Attack } from '../attack.ts';
import { floodOf, graphql, rawHead, rawPost, socketsOf, writeAll } from '../drive.ts';

const builtIn = { backend: 'built-in' } as const;

/** Creates attacks that load a public page, with and without reading it. */
function pageAttacks(path: string, headers: Readonly<Record<string, string>> = {}) {
  const needs = { ...builtIn, settings: { GRAPHIQL: 'on' } };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `${rawHead('GET', path)}${lines.join('')}\r\n`;
  return [
    floodOf(`${path}, read`, 100, () => ({ method: 'GET', path, headers }), needs),
    socketsOf(
      `${path}, unread`,
      300,
      (target) => (socket) => writeAll(socket, [request.repeat(3)], target.signal),
      { ...needs, reads: false },
    ),
  ];
}

const twenty = (one: (n: number) => string) =>
  Array.from({ length: 20 }, (_, n) => `a${n}: ${one(n)}`).join(' ');
const twentyPages = graphql(`{ ${twenty((n) => `pets(limit: ${81 + n}) { id name }`)} }`);
const twentyWrites = graphql(
  `mutation { ${twenty((n) => `addPet(input: { name: "Rex", categoryId: ${n} }) { id }`)} }`,
);

/** Attacks on the built-in service and its pages. */
export const builtInAttacks: readonly Attack[] = [
  ...pageAttacks('/v1/docs/swagger-ui-bundle.js'),
  ...pageAttacks('/v1/openapi.json'),
  ...pageAttacks('/graphql', { accept: 'text/html' }),
  floodOf(
    'names of 250 KB',
    12,
    () => ({
      path: '/v1/pets',
      body: JSON.stringify({ name: 'x'.repeat(250_000), categoryId: 1 }),
    }),
    builtIn,
  ),
  floodOf('twenty pages of a hundred', 16, () => twentyPages, builtIn),
  socketsOf(
    'twenty pages of a hundred, unread',
    50,
    (target) => {
      const request = rawPost(twentyPages, target);
      return (socket) => writeAll(socket, Array(200).fill(request), target.signal);
    },
    { ...builtIn, reads: false },
  ),
  floodOf(
    'unknown paths',
    32,
    (index) => ({
      method: index % 3 === 0 ? 'OPTIONS' : 'GET',
      path: `/${index}${'x'.repeat(8000)}`,
      headers: { 'x-request-id': 'i'.repeat(3000), tracestate: 't'.repeat(3000) },
    }),
    builtIn,
  ),
  floodOf(
    'probes',
    64,
    (index) => ({ method: 'GET', path: index % 2 === 0 ? '/livez' : '/readyz' }),
    builtIn,
  ),
  floodOf('twenty writes per request', 16, () => twentyWrites, builtIn),
];
