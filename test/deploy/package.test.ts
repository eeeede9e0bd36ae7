import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { js as graphiql } from '@graphql-yoga/render-graphiql/graphiql';
import { describe, expect, it } from 'vitest';
import { blocksOf } from '../support/blocks.ts';
import { consumerTest, createConsumer, packGateway, sizeOf } from '../support/consumer.ts';
import { createFolder } from '../support/folder.ts';
import { commandStart } from '../support/process.ts';
import { installEnv, registryTest } from '../support/registry.ts';
import { startUpstream } from '../support/upstream.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));

const consumer = createConsumer();
const tarball = await packGateway(createFolder());

type Project = Parameters<typeof consumer.project>[0];

/** Creates a project with the packed package, and by default without the client. */
const project = (parts: Project = {}) =>
  consumer.project({ hasClient: false, hasGateway: true, ...parts });

const strict = '--strict --noEmit --module nodenext --target esnext --types node'.split(' ');

/** The path of the oldest Node version that `engines` allows. `.ci/run` installs it. */
const oldestNode = process.env['OLDEST_NODE'];
if (!oldestNode)
  process.stdout.write('Tests on the oldest Node are SKIPPED: set OLDEST_NODE to its path.\n');

it('replaces the @scarf/scarf download counter with an empty package', async () => {
  const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8'));
  const scarf = Object.entries<{ readonly name?: string }>(lock.packages).filter(([path]) =>
    path.endsWith('/@scarf/scarf'),
  );
  expect(scarf.map(([, { name }]) => name)).toEqual(['empty-npm-package']);
});

describe('the packed package', () => {
  it('installs as one package of less than 10 MB', async () => {
    const { root } = await consumer.project({ hasClient: false });
    await run('npm', ['install', '--offline', '--no-audit', tarball], { cwd: root });
    const modules = join(root, 'node_modules');
    const names = (await readdir(modules)).filter((name) => !name.startsWith('.'));
    expect(names).toEqual(['petstore-gateway']);
    expect(await sizeOf(modules)).toBeLessThan(10_000_000);
    const deploy = await readdir(join(modules, 'petstore-gateway/deploy'));
    const configurations = [
      'grafana',
      'kubernetes',
      'nginx.conf',
      'postgresql',
      'prometheus',
      'systemd',
    ];
    expect(deploy.toSorted()).toEqual(configurations);
    const licenses = join(modules, 'petstore-gateway/dist/THIRD-PARTY-LICENSES.txt');
    for (const name of ['graphql', 'graphql-yoga', 'undici', 'swagger-ui-dist', 'pg']) {
      expect(await readFile(licenses, 'utf8')).toMatch(new RegExp(`^${name} [\\d.]+, \\S+\n`, 'm'));
    }
  });

  it('contains the client package as petstore-gateway/client', async () => {
    const { node } = await project({
      files: {
        'main.js': `import { isGatewayError, ListPetsDocument, persistedHash } from 'petstore-gateway/client';
      import manifest from 'petstore-gateway/persisted-documents.json' with { type: 'json' };
      console.log(isGatewayError({ extensions: { code: 'NOT_FOUND' } }, 'NOT_FOUND'));
      console.log(manifest[persistedHash(ListPetsDocument)]);`,
      },
    });
    expect(await node('main.js')).toMatch(/^true\n.*\bquery ListPets\(/s);
  });

  it('exposes the pet store in a Yoga server beside the gateway', async () => {
    const { node } = await project({
      ours: ['graphql', 'graphql-yoga', '@pothos/core'],
      files: {
        'main.js': `import SchemaBuilder from '@pothos/core';
      import { isSchema } from 'graphql';
      import { createYoga } from 'graphql-yoga';
      import { createGateway } from 'petstore-gateway';
      import { addPetStore, loadConfig, usePetStore } from 'petstore-gateway/schema';
      const config = loadConfig({ DATABASE_URL: ':memory:', LOG_LEVEL: 'error' });
      await using gateway = await createGateway(config);
      const builder = new SchemaBuilder({});
      builder.queryType();
      builder.mutationType();
      const { Pet } = addPetStore(builder);
      builder.objectField(Pet, 'shout', (t) => t.string({ resolve: ({ name }) => name.toUpperCase() }));
      const schema = builder.toSchema();
      const yoga = createYoga({ schema, plugins: [await usePetStore(config)] });
      const post = async (serve, query) => (await serve(new Request('http://localhost/graphql', {
        method: 'POST',
        headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }))).json();
      const ask = '{ pets(limit: 1) { name } pet(id: 999) { id } }';
      for (const { data, errors } of [await post(gateway, ask), await post(yoga.fetch, ask)]) {
        console.log(data.pets[0].name, errors.map(({ extensions }) => extensions.code).join());
      }
      const { data } = await post(yoga.fetch, '{ pets(limit: 1) { shout } }');
      console.log(isSchema(schema), data.pets[0].shout);
      await yoga.dispose();`,
      },
    });
    expect(await node('main.js')).toBe('Biscuit NOT_FOUND\nBiscuit NOT_FOUND\ntrue BISCUIT\n');
  });

  it('has entries whose types compile with nothing but the peers that they name', async () => {
    const { exports } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
    const entries = Object.keys(exports).filter((name) => exports[name].types);
    expect(entries).toEqual(['.', './schema', './client']);
    const imports = entries.map((name) => `export * from 'petstore-gateway${name.slice(1)}';`);
    const files = Object.fromEntries(imports.map((text, index) => [`entry-${index}.ts`, text]));
    const ours = ['@types/node', 'undici-types', 'graphql', 'graphql-yoga', '@pothos/core'];
    const { tsc } = await project({ ours, files });
    const problems = (await tsc('7.0', ...strict, ...Object.keys(files))).split('\n');
    // Those of lru-cache, which graphql-yoga depends on, are not ours.
    const isOurs = (line: string) => /^(?:node_modules\/petstore-gateway|entry-)/.test(line);
    expect(problems.filter(isOurs)).toEqual([]);
  });

  it('has types that compile in a project without graphql', async () => {
    const { tsc } = await project({
      ours: ['@types/node', 'undici-types'],
      files: {
        'main.ts': `import type { Gateway } from 'petstore-gateway';
      import { ListPetsDocument } from 'petstore-gateway/client';
      declare const gateway: Gateway;
      const { data } = await gateway.execute(ListPetsDocument, { limit: 5 });
      export const name: string | undefined = data?.pets?.[0]?.name;
      // Its declaration has the types of the result.
      export async function list() {
        const { data, errors } = await gateway.execute(ListPetsDocument, { limit: 5 });
        return { data, errors };
      }
      // @ts-expect-error No such status.
      await gateway.execute(ListPetsDocument, { status: 'lost' });
      // @ts-expect-error No such field.
      data?.animals;`,
      },
    });
    expect(await tsc('7.0', ...strict, '--skipLibCheck', '--declaration', 'main.ts')).toBe('');
  });

  it('compiles the TypeScript blocks of the documentation', async () => {
    const others =
      '@types/node undici-types graphql graphql-yoga @pothos/core @apollo/client rxjs @urql/core wonka @urql/exchange-graphcache @urql/exchange-persisted';
    const pages = [
      'README.md',
      'docs/bff.md',
      'docs/clients/apollo.md',
      'docs/clients/urql.md',
      'docs/extending.md',
      'docs/retrying.md',
    ];
    const texts = await Promise.all(pages.map((page) => readFile(join(repository, page), 'utf8')));
    const blocks = texts.flatMap((text) =>
      [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block),
    );
    expect(blocks.length).toBeGreaterThan(6);
    const files = Object.fromEntries(blocks.map((block, index) => [`block-${index}.ts`, block]));
    const { tsc } = await project({ ours: others.split(' '), files, hasClient: true });
    expect(await tsc('7.0', ...strict, '--skipLibCheck', ...Object.keys(files))).toBe('');
  });

  it.each([
    ['README.md', 'Mount it in a BFF', /^\[ 'Biscuit', .* \] undefined\n$/],
    ['docs/bff.md', 'In a BFF', /^200 3 undefined\n$/],
  ])('runs the first block of %s, section %s', async (page, section, printed) => {
    const [{ block = '' } = {}] = await blocksOf(page, section);
    // The server of README.md would keep the process alive.
    const text = `${block.replace('3000', '0')}process.exit();`;
    const { shell } = await project({ files: { 'main.ts': text } });
    expect(await shell(['LOG_LEVEL=silent node main.ts'])).toMatch(printed);
  });

  it('runs the gateway of docs/extending.md, with a field and a plugin of its own', async () => {
    const blocks = await blocksOf('docs/extending.md', 'A gateway with plugins and fields');
    const [, { block = '' } = {}, , request, response] = blocks;
    const ask = `${block.replace('4000', '0')}
      import { execFile } from 'node:child_process';
      server.on('listening', () => {
        const { port } = server.address() as { port: number };
        const command = ${JSON.stringify(request?.block)}.replace('4000', String(port));
        execFile('bash', ['-c', command], (_error, stdout) => {
          console.log(stdout);
          process.exit();
        });
      });`;
    const ours = ['graphql', 'graphql-yoga', '@pothos/core'];
    const { shell } = await project({ ours, files: { 'gateway.ts': ask } });
    const printed = await shell(['LOG_LEVEL=silent node gateway.ts']);
    const lines = ['GraphQL at http://127.0.0.1:4000/graphql', 'executed in 1 ms', response?.block];
    expect(printed.replace(/[\d.]+(?= ms)/, '1')).toBe(lines.join('\n'));
  });

  it('runs as a command, and serves the OpenAPI document and the reference page', async () => {
    const { root } = await project();
    const command = join(root, 'node_modules/petstore-gateway/dist/bin/main.js');
    expect((await readFile(command, 'utf8')).split('\n')[0]).toBe('#!/usr/bin/env node');
    await using started = await commandStart(command, { DATABASE_URL: ':memory:' });
    const openapi = await fetch(`${started.url}/v1/openapi.json`);
    expect(await openapi.json()).toMatchObject({ openapi: '3.0.3' });
    for (const file of ['docs', 'docs/page.css', 'docs/page.js', 'docs/swagger-ui.css']) {
      expect((await fetch(`${started.url}/v1/${file}`)).status, file).toBe(200);
    }
  });

  it('serves its pages unchanged after a bundler replaced text, also within strings', async () => {
    const { root } = await project();
    const dist = join(root, 'node_modules/petstore-gateway/dist');
    for (const name of await readdir(dist, { recursive: true })) {
      if (!name.endsWith('.js')) continue;
      const text = await readFile(join(dist, name), 'utf8');
      // As Nitro does.
      const replaced = text
        .replaceAll('typeof window', '"undefined"')
        .replaceAll(/\bprocess\.env\.NODE_ENV\b/g, '"production"');
      await writeFile(join(dist, name), replaced);
    }
    await using started = await commandStart(join(dist, 'bin/main.js'), {
      DATABASE_URL: ':memory:',
    });
    const script = await fetch(`${started.url}/v1/docs/swagger-ui-bundle.js`);
    const original = await readFile(
      join(repository, 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'),
      'utf8',
    );
    expect((await script.text()) === original).toBe(true);
    const page = await fetch(`${started.url}/graphql`, { headers: { accept: 'text/html' } });
    expect((await page.text()).includes(graphiql)).toBe(true);
  });

  it.skipIf(!oldestNode)('runs on the oldest Node version that engines allows', async () => {
    const node = oldestNode ?? '';
    const { root } = await project();
    const packageRoot = join(root, 'node_modules/petstore-gateway');
    const { engines } = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8'));
    const { stdout: version } = await run(node, ['--version']);
    expect(`>=${Number.parseInt(version.slice(1), 10)}`).toBe(engines.node);

    const command = join(packageRoot, 'dist/bin/main.js');
    const env = { DATABASE_URL: `file:${join(root, 'pets.db')}`, DEMO: 'on' };
    await using started = await commandStart(command, { ...env, WORKERS: '2' }, node);
    const response = await fetch(`${started.url}/graphql`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
      body: '{"query":"mutation { addPet(input: { name: \\"Rex\\", categoryId: 9223372036854775807 }) { categoryId } }"}',
    });
    expect(await response.json()).toEqual({
      data: { addPet: { categoryId: '9223372036854775807' } },
    });
    const check = ['check-service', '--base-url', `${started.url}/v1`, '--key', 'demo-key'];
    const { stdout: verdict } = await run(node, [command, ...check], { env });
    expect(verdict).toMatch(/^\d+ passed, 0 failed/m);
    await run(node, [command, 'keys', 'create-account', 'acme'], { env });
    const { stdout: key } = await run(node, [command, 'keys', 'create', 'acme'], { env });
    expect(key).toMatch(/^pet_/);
    started.kill('SIGTERM');
    expect(await started.exited).toBe(0);

    await writeFile(
      join(root, 'main.js'),
      `import { createGateway, loadConfig } from 'petstore-gateway';
      await using gateway = await createGateway(loadConfig({ DATABASE_URL: ':memory:' }));
      const response = await gateway(new Request('http://localhost/graphql?query={__typename}'));
      console.log(await response.text());`,
    );
    const { stdout } = await run(node, ['main.js'], { cwd: root });
    expect(stdout).toBe('{"data":{"__typename":"Query"}}\n');
  });
});

registryTest(
  'reports the required version on Node 20, from each entry',
  async () => {
    const { root } = await project({ ours: ['graphql', 'graphql-yoga', '@pothos/core'] });
    const older = join(root, 'older');
    await mkdir(older);
    await writeFile(join(older, 'package.json'), '{ "allowScripts": { "node": true } }');
    await run('npm', ['install', '--no-audit', 'node@20'], { cwd: older, env: installEnv });
    const node = join(older, 'node_modules/node/bin/node');
    for (const entry of ['petstore-gateway', 'petstore-gateway/schema']) {
      const loaded = run(node, ['--input-type=module', '--eval', `import '${entry}'`], {
        cwd: root,
      });
      await expect(loaded, entry).rejects.toMatchObject({
        stderr: expect.stringMatching(/^Error: Expected Node 24 or newer, received v20\./m),
      });
    }
  },
  300_000,
);

const hosted = `import { parse, versionInfo } from 'graphql';
import { createGateway, loadConfig } from 'petstore-gateway';
await using gateway = await createGateway(loadConfig({ DATABASE_URL: ':memory:', LOG_LEVEL: 'error' }));
const caller = { authorization: 'Bearer demo-key' };
const codes = ({ errors = [] }) => errors.map(({ extensions }) => extensions.code).join();
const add = 'mutation ($input: AddPetInput!) { addPet(input: $input) { id } }';
const outcomes = [
  await gateway.execute(parse('{ pet(id: "999") { id } }'), {}, caller),
  await gateway.execute('{ pets(limit: 101) { id } }', {}, caller),
  await gateway.execute(parse(add), { input: { name: 'Rex', categoryId: 'x' } }, caller),
  await gateway.execute(parse('query ($status: PetStatus) { pets(status: $status) { id } }'), { status: 'lost' }, caller),
  await gateway.execute('{ pets { id } orders }'),
  await gateway.execute('{ nothing }', {}, caller),
  await gateway.execute('{', {}, caller),
];
const response = await gateway(new Request('http://localhost/graphql', {
  method: 'POST',
  headers: { ...caller, 'content-type': 'application/json' },
  body: JSON.stringify({ query: '{ pet(id: "999") { id } pets(limit: 1) { name } }' }),
}));
const { data, errors } = await response.json();
console.log(versionInfo.major, outcomes.map(codes).join(' '), codes({ errors }), data.pets[0].name);`;

const typed = `import { parse, type DocumentNode } from 'graphql';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { Gateway } from 'petstore-gateway';
import { StorefrontDocument } from 'petstore-gateway/client';
declare const gateway: Gateway;
declare const counted: TypedDocumentNode<{ count: number }, { limit: number }>;
const untyped: DocumentNode = parse('{ orders }');
await gateway.execute(untyped);
const { data } = await gateway.execute(counted, { limit: 1 });
export const count: number | undefined = data?.count;
// @ts-expect-error A limit is a number.
await gateway.execute(counted, { limit: '1' });
const { data: shown, errors = [] } = await gateway.execute(StorefrontDocument, { limit: 3 });
export const names: string[] | undefined = shown?.available?.map(({ name }) => name);
export const codes: string[] = errors.map(({ extensions }) => extensions.code);`;

describe.each([
  ['16', '5.9'],
  ['17', '7.0'],
])('the packed package with graphql %s and TypeScript %s', (graphql, typeScript) => {
  const open = (files: Readonly<Record<string, string>>) => {
    const types = ['@types/node', 'undici-types', '@graphql-typed-document-node/core'];
    return graphql === '16'
      ? project({ ours: types, theirs: ['graphql'], files })
      : project({ ours: [...types, 'graphql'], files });
  };

  consumerTest('returns typed errors for documents and for texts', async () => {
    const { node } = await open({ 'main.js': hosted });
    expect(await node('main.js')).toBe(
      `${graphql} NOT_FOUND BAD_USER_INPUT BAD_USER_INPUT BAD_USER_INPUT UNAUTHENTICATED,UNAUTHENTICATED GRAPHQL_VALIDATION_FAILED GRAPHQL_PARSE_FAILED NOT_FOUND Biscuit\n`,
    );
  });

  consumerTest('accepts typed documents', async () => {
    const { tsc } = await open({ 'main.ts': typed });
    expect(await tsc(typeScript, ...strict, 'main.ts')).toBe('');
  });
});

it('examples/bff makes three REST calls per request, and responds without the one that fails', async () => {
  const { root } = await project({ ours: ['hono', '@hono/node-server'] });
  await cp(join(repository, 'examples/bff/main.ts'), join(root, 'main.ts'));
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { authorization: 'Bearer demo-key', traceparent };
  let petStatus = 'sold';
  let respondToOrders = (response: ServerResponse): unknown => response.end('[{},{}]');
  await using upstream = await startUpstream((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url === '/v1/store/orders') return void respondToOrders(response);
    const status = new URL(request.url, 'http://x').searchParams.get('status');
    const pet = { id: 1, name: `the ${status} one`, categoryId: 1, status: petStatus };
    response.end(JSON.stringify([pet]));
  });
  const env = { PETSTORE_BASE_URL: `${upstream.url}/v1` };
  await using started = await commandStart(join(root, 'main.ts'), env);
  const storefront = async () => {
    const response = await fetch(`${started.url}/storefront`, { headers });
    return [response.status, await response.json()];
  };
  const pets = { available: ['the available one'], pending: ['the pending one'] };
  expect(await storefront()).toEqual([200, { ...pets, orders: 2, missing: [] }]);
  expect(upstream.seen.map(({ url }) => url).toSorted()).toEqual([
    '/v1/pets?limit=3&status=available',
    '/v1/pets?limit=3&status=pending',
    '/v1/store/orders',
  ]);
  for (const seen of upstream.seen) expect(seen.headers).toMatchObject(headers);
  // An error below a field is not one of the field.
  petStatus = 'extinct';
  expect(await storefront()).toEqual([200, { ...pets, orders: 2, missing: [] }]);
  // At its own deadline it cancels late calls.
  const ended = Promise.withResolvers<void>();
  respondToOrders = (response) => response.once('close', ended.resolve);
  expect(await storefront()).toEqual([200, { ...pets, missing: ['orders'] }]);
  await ended.promise;
  const response = await fetch(`${started.url}/graphql?query={__typename}`, { headers });
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
});
