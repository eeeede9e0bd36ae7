import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, vi } from 'vitest';
import { createGateway, type Gateway, loadConfig, type NodeListener } from '../../../src/index.ts';
import { blocksOf } from '../../support/blocks.ts';
import { createFolder } from '../../support/folder.ts';
import { startIn } from '../../support/process.ts';
import { installPackages, registryTest } from '../../support/registry.ts';
import { startServer } from '../../support/server.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 1_200_000 });

const packages = [
  '@google-cloud/functions-framework@5.0.5',
  'fastify@5.12.8',
  'h3@1.15.11',
  'koa@3.3.0',
  'polka@0.5.2',
  'restify@12.0.0',
  'serverless-http@4.0.0',
];

const folder = createFolder();
const load = createRequire(join(folder, 'main.js'));
beforeAll(() => installPackages(folder, packages));

const env = { DATABASE_URL: ':memory:', LOG_LEVEL: 'warn' };
const headers = {
  host: 'localhost',
  authorization: 'Bearer demo-key',
  'content-type': 'application/json',
};
const body = '{"query":"{ pets(limit: 1) { id } ... @defer { __typename } }"}';

/** Each is mounted as its documentation says, and calls the listener with its own response object. */
const applications: Readonly<Record<string, (listener: NodeListener) => object>> = {
  'the listener alone': (listener) => listener,
  Koa(listener) {
    const app = new (load('koa'))();
    return app.use((context: { req: never; res: never; respond: boolean }) => {
      context.respond = false;
      listener(context.req, context.res);
    });
  },
  polka: (listener) => load('polka')().post('/graphql', listener),
};

describe.each(Object.keys(applications))('serverless-http around %s', (name) => {
  registryTest.each([
    ['application/json', /^\{"data":\{"pets":\[\{"id":"1"\}\],"__typename":"Query"\}\}$/],
    ['multipart/mixed', /"hasNext":true.*"hasNext":false/s],
  ])('returns a response in the type %s', async (accept, expected) => {
    await using gateway = await createGateway(loadConfig(env));
    const handle = load('serverless-http')(applications[name]?.(gateway.nodeListener));
    const http = { method: 'POST', sourceIp: '192.0.2.1' };
    const target = { version: '2.0', rawPath: '/graphql', rawQueryString: '' };
    const event = { ...target, requestContext: { http }, headers: { ...headers, accept }, body };
    expect(await handle(event, {})).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': expect.stringContaining(accept) },
      body: expect.stringMatching(expected),
    });
  });
});

const restify = `import { createServer } from 'restify';
import { createGateway, loadConfig } from '${import.meta.resolve('../../../src/index.ts')}';
const gateway = await createGateway(loadConfig(process.env));
const server = createServer();
server.post('/graphql', async (request, response) => gateway.nodeListener(request, response));
server.listen(0, '127.0.0.1', () => console.log(\`GraphQL  \${server.url}/graphql\`));`;

// In a process of its own, because Restify replaces methods of all response objects.
registryTest('Restify sends the response', async () => {
  await writeFile(join(folder, 'restify.mjs'), restify);
  await using server = await startIn(folder, ['restify.mjs'], env);
  const response = await fetch(`${server.url}/graphql`, { method: 'POST', headers, body });
  const data = { pets: [{ id: '1' }], __typename: 'Query' };
  expect([response.status, await response.json()]).toEqual([200, { data }]);
});

/** Starts a server of h3 1, as in Nitro 2 and Nuxt, and records its own errors. */
async function startH3(gateway: Gateway) {
  const { createApp, fromNodeMiddleware, toNodeListener } = load('h3');
  const errors: unknown[] = [];
  const app = createApp({ onError: (error: unknown) => errors.push(error) });
  app.use('/graphql', fromNodeMiddleware(gateway.nodeListener));
  return { ...(await startServer(createServer(toNodeListener(app)))), errors };
}

describe('h3 1', () => {
  registryTest.each([
    [
      'a response',
      'application/json',
      /^\{"data":\{"pets":\[\{"id":"1"\}\],"__typename":"Query"\}\}$/,
    ],
    ['a response in parts', 'multipart/mixed', /"hasNext":true.*"hasNext":false/s],
  ])('sends %s', async (_, accept, expected) => {
    await using gateway = await createGateway(loadConfig(env));
    await using server = await startH3(gateway);
    const post = { method: 'POST', headers: { ...headers, accept }, body };
    const response = await fetch(`${server.url}/graphql`, post);
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringMatching(expected),
    ]);
    const get = await fetch(`${server.url}/graphql?query={__typename}`);
    expect([get.status, await get.text()]).toEqual([200, '{"data":{"__typename":"Query"}}']);
    expect(server.errors).toEqual([]);
  });
});

const google = `import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { createGateway, loadConfig } from '${import.meta.resolve('../../../src/index.ts')}';
const gateway = await createGateway(loadConfig(process.env));
http('graphql', gateway.nodeListener);
const server = getTestServer('graphql').listen(0, '127.0.0.1', () => {
  console.log(\`GraphQL  http://127.0.0.1:\${server.address().port}/graphql\`);
});`;

registryTest('Google Cloud Functions, which read each body, get its response', async () => {
  await writeFile(join(folder, 'google.mjs'), google);
  await using server = await startIn(folder, ['google.mjs'], env);
  const post = async (sent: string | Uint8Array<ArrayBuffer>, more = {}) => {
    const init = { method: 'POST', headers: { ...headers, ...more }, body: sent };
    const response = await fetch(`${server.url}/graphql`, init);
    return [response.status, await response.json()];
  };
  const data = { pets: [{ id: '1' }], __typename: 'Query' };
  expect(await post(body)).toEqual([200, { data }]);
  expect(await post(gzipSync(body), { 'content-encoding': 'gzip' })).toEqual([200, { data }]);
  const errors = [{ extensions: { code: 'BODY_TOO_LARGE' } }];
  expect(await post(`{"query":"${'x'.repeat(300_000)}"}`)).toMatchObject([413, { errors }]);
});

const shared = `import { createGateway, loadConfig } from '${import.meta.resolve('../../../src/index.ts')}';
export const gateway = await createGateway(loadConfig(process.env));`;

registryTest("Fastify's inject gets the response of docs/hosts/node.md", async () => {
  const [{ block = '' } = {}] = await blocksOf('docs/hosts/node.md', 'Fastify');
  const post = JSON.stringify({ method: 'POST', url: '/graphql', headers, payload: body });
  const injected = `const response = await app.inject(${post});
    console.log(response.statusCode, response.payload);
    process.exit();`;
  const [server = ''] = block.split('const url =');
  await writeFile(join(folder, 'gateway.mjs'), shared);
  const imports = server.replace(
    /^import .*gateway\.ts';$/m,
    "import { gateway } from './gateway.mjs';",
  );
  await writeFile(join(folder, 'inject.mjs'), imports + injected);
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['inject.mjs'], options);
  const data = { pets: [{ id: '1' }], __typename: 'Query' };
  expect([stdout, stderr]).toEqual([`200 ${JSON.stringify({ data })}\n`, '']);
});
