import { createServer } from 'node:http';
import { Pool } from 'undici';

// The minimum for Node: the REST calls of a workload without GraphQL, their bodies unchanged. The
// difference between this and a gateway is the gateway's own cost. The URL names the workload.
const { origin, pathname } = new URL(process.env.UPSTREAM);
const paths = JSON.parse(process.env.PATHS);
const pool = new Pool(origin, { connections: 128 });

async function get(path, authorization) {
  const options = { method: 'GET', path: pathname + path, headers: { authorization } };
  const { body } = await pool.request(options);
  return Buffer.from(await body.arrayBuffer());
}

async function readBodies({ url, headers: { authorization } }) {
  const [first, ...rest] = paths[url];
  if (rest.length === 0) return get(first, authorization);
  const bodies = await Promise.all(paths[url].map((path) => get(path, authorization)));
  return `[${bodies.join(',')}]`;
}

createServer((request, response) => {
  request.resume().once('end', async () => {
    const body = await readBodies(request);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}).listen(process.env.PORT, '127.0.0.1');
