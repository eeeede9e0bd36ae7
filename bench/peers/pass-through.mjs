import { createServer } from 'node:http';
import { Pool } from 'undici';

// The least that Node can do: no GraphQL, only the REST calls that an operation stands for, and
// their bodies as they are. What a gateway takes longer than this is its own.
const { origin, pathname } = new URL(process.env.UPSTREAM);
const paths = process.env.PATHS.split(' ').map((path) => pathname + path);
const pool = new Pool(origin, { connections: 128 });
const get = process.env.UNDICI === 'dispatch' ? dispatch : request;

/** As it is usually written. */
async function request(path, authorization) {
  const { body } = await pool.request({ method: 'GET', path, headers: { authorization } });
  return Buffer.from(await body.arrayBuffer());
}

/** By undici's lowest interface, without a stream and its promises. */
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

async function answer({ authorization }) {
  if (paths.length === 1) return get(paths[0], authorization);
  const bodies = await Promise.all(paths.map((path) => get(path, authorization)));
  return `[${bodies.join(',')}]`;
}

createServer((request, response) => {
  request.resume().once('end', async () => {
    const body = await answer(request.headers);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}).listen(process.env.PORT, '127.0.0.1');
