import { createServer } from 'node:http';
import { Pool } from 'undici';

// The minimum for Node: the REST calls of an operation without GraphQL, their bodies unchanged. The
// difference between this and a gateway is the gateway's own cost.
const { origin, pathname } = new URL(process.env.UPSTREAM);
const paths = process.env.PATHS.split(' ').map((path) => pathname + path);
const pool = new Pool(origin, { connections: 128 });
const get = process.env.UNDICI === 'dispatch' ? dispatch : request;

/** The usual way to call a REST service with undici. */
async function request(path, authorization) {
  const { body } = await pool.request({ method: 'GET', path, headers: { authorization } });
  return Buffer.from(await body.arrayBuffer());
}

/** undici's lowest-level API, without a stream and its promises. */
function dispatch(path, authorization) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const chunks = [];
  const handler = {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData: (_controller, chunk) => chunks.push(chunk),
    onResponseEnd: () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
    onResponseError: (_controller, error) => reject(error),
  };
  pool.dispatch({ method: 'GET', path, headers: { authorization } }, handler);
  return promise;
}

async function readBodies({ authorization }) {
  if (paths.length === 1) return get(paths[0], authorization);
  const bodies = await Promise.all(paths.map((path) => get(path, authorization)));
  return `[${bodies.join(',')}]`;
}

createServer((request, response) => {
  request.resume().once('end', async () => {
    const body = await readBodies(request.headers);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}).listen(process.env.PORT, '127.0.0.1');
