import type { Attack } from '../attack.ts';
import { flood, graphql, holdSockets, rawHead, rawPost, writeAll } from '../drive.ts';

const html = 'Accept: text/html\r\n';
const settings = { GRAPHIQL: 'on' };

/** Creates attacks that load a public page, with and without reading it. */
function pageAttacks(path: string, headers = ''): readonly Attack[] {
  const request = `${rawHead('GET', path)}${headers}\r\n`;
  return [
    {
      id: `${path}, read`,
      backend: 'built-in',
      settings,
      run: (target) =>
        flood(target, { connections: 100, requests: 10_000 }, () => ({
          method: 'GET',
          path,
          headers: headers === '' ? {} : { accept: 'text/html' },
        })),
    },
    {
      id: `${path}, unread`,
      backend: 'built-in',
      settings,
      run: (target) =>
        holdSockets(target, {
          count: 300,
          reads: false,
          start: (socket) => writeAll(socket, [request.repeat(3)], target.signal),
        }),
    },
  ];
}

const twentyPages = graphql(
  `{ ${Array.from({ length: 20 }, (_, n) => `a${n}: pets(limit: ${81 + n}) { id name }`).join(' ')} }`,
);

/** Attacks on the built-in service and its pages. */
export const builtInAttacks: readonly Attack[] = [
  ...pageAttacks('/v1/docs/swagger-ui-bundle.js'),
  ...pageAttacks('/v1/openapi.json'),
  ...pageAttacks('/graphql', html),
  {
    id: 'names of 250 KB',
    backend: 'built-in',
    run: (target) =>
      flood(target, { connections: 12, requests: 5000 }, () => ({
        path: '/v1/pets',
        body: JSON.stringify({ name: 'x'.repeat(250_000), categoryId: 1 }),
      })),
  },
  {
    id: 'twenty pages of a hundred',
    backend: 'built-in',
    run: (target) =>
      flood(target, { connections: 16, requests: 5000 }, () => ({ body: twentyPages })),
  },
  {
    id: 'twenty pages of a hundred, unread',
    backend: 'built-in',
    run: (target) => {
      const request = rawPost(twentyPages, target);
      return holdSockets(target, {
        count: 50,
        reads: false,
        start: (socket) => writeAll(socket, Array(200).fill(request), target.signal),
      });
    },
  },
  {
    id: 'unknown paths',
    backend: 'built-in',
    run: (target) =>
      flood(target, { connections: 32, requests: 50_000 }, (index) => ({
        method: index % 3 === 0 ? 'OPTIONS' : 'GET',
        path: `/${index}${'x'.repeat(8000)}`,
        headers: { 'x-request-id': 'i'.repeat(3000), tracestate: 't'.repeat(3000) },
      })),
  },
  {
    id: 'probes',
    backend: 'built-in',
    run: (target) =>
      flood(target, { connections: 64, requests: 100_000 }, (index) => ({
        method: 'GET',
        path: index % 2 === 0 ? '/livez' : '/readyz',
      })),
  },
  {
    id: 'twenty writes per request',
    backend: 'built-in',
    run: (target) => {
      const one = (n: number) => `a${n}: addPet(input: { name: "Rex", categoryId: ${n} }) { id }`;
      const body = graphql(
        `mutation { ${Array.from({ length: 20 }, (_, n) => one(n)).join(' ')} }`,
      );
      return flood(target, { connections: 16, requests: 5000 }, () => ({ body }));
    },
  },
];
