import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { describe, expect, it, vi } from 'vitest';
import { consumerTest, createConsumer, packClient, sizeOf } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const run = promisify(execFile);

const consumer = createConsumer();
const folder = createFolder();
const tarball = await packClient(folder);

const typed = `
import { GraphQLError, print } from 'graphql';
import {
  GetPetDocument, isGatewayError, ListPetsDocument, persistedHash, TileFragmentDoc,
  type ListPetsQuery, type TileFragment, type TypedDocumentNode,
} from 'petstore-gateway-client';

declare function query<Data, Variables>(
  document: TypedDocumentNode<Data, Variables>, variables: Variables,
): Promise<Data>;
export async function names(): Promise<string[] | undefined> {
  const { pets }: ListPetsQuery = await query(ListPetsDocument, { limit: 5, status: 'sold' });
  return pets?.map(({ name }) => name);
}
// @ts-expect-error No such status.
export const wrong = () => query(ListPetsDocument, { status: 'lost' });
export const tile: TypedDocumentNode<TileFragment, unknown> = TileFragmentDoc;
export const text: string = print(ListPetsDocument) + persistedHash(GetPetDocument);
const error: unknown = new GraphQLError('', { extensions: { code: 'RATE_LIMITED' } });
export const wait: number | undefined = isGatewayError(error, 'RATE_LIMITED')
  ? error.extensions.retryAfterMs
  : undefined;
`;

const moduleSettings = {
  nodenext: ['main.ts', { module: 'nodenext' }],
  bundler: ['main.ts', { module: 'esnext', moduleResolution: 'bundler' }],
  'CommonJS by require(esm)': ['main.cts', { module: 'nodenext' }],
} as const;
const strict = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [] };

const used = `
const errors = [new GraphQLError('Slow.', { extensions: { code: 'RATE_LIMITED' } }), new Error()];
console.log(versionInfo.major, print(ListPetsDocument).startsWith('query ListPets('), persistedHash(ListPetsDocument).length,
  TileFragmentDoc.definitions.length, errors.map((error) => isGatewayError(error, 'RATE_LIMITED')).join());`;
const names = '{ isGatewayError, ListPetsDocument, persistedHash, TileFragmentDoc }';
const esm = `import { GraphQLError, print, versionInfo } from 'graphql';
import ${names} from 'petstore-gateway-client';${used}`;
const commonJs = `const { GraphQLError, print, versionInfo } = require('graphql');
const ${names} = require('petstore-gateway-client');${used}`;

describe.each([
  ['16', '5.9'],
  ['17', '7.0'],
])('petstore-gateway-client with graphql %s and TypeScript %s', (graphql, typeScript) => {
  const open = (files: Readonly<Record<string, string>>) =>
    consumer.project({
      ...(graphql === '16' ? { theirs: ['graphql'] } : { ours: ['graphql'] }),
      files,
    });

  consumerTest.each([
    ['an ES module', 'main.js', esm],
    ['CommonJS', 'main.cjs', commonJs],
  ])('runs in %s', async (_, main, text) => {
    const { node } = await open({ [main]: text });
    expect(await node(main)).toBe(`${graphql} true 71 1 true,false\n`);
  });

  consumerTest.each(Object.entries(moduleSettings))(
    'has types under %s',
    async (_, [main, settings]) => {
      const compilerOptions = { ...strict, ...settings };
      const { tsc } = await open({
        [main]: typed,
        'tsconfig.json': JSON.stringify({ compilerOptions, files: [main] }),
      });
      expect(await tsc(typeScript)).toBe('');
    },
  );
});

describe('petstore-gateway-client', () => {
  it('has no dependencies, and less than 100 kB when installed', async () => {
    const { root } = await consumer.project({ hasClient: false });
    await run('npm', ['install', '--offline', '--no-audit', tarball], { cwd: root });
    const installed = join(root, 'node_modules');
    const packages = (await readdir(installed)).filter((name) => !name.startsWith('.'));
    expect(packages).toEqual(['petstore-gateway-client']);
    expect(await sizeOf(installed)).toBeLessThan(100_000);
  });

  it('is installed beside any version of the libraries that it can work with', async () => {
    const libraries = ['@apollo/client', '@urql/core', 'graphql', 'rxjs', 'wonka'];
    for (const version of ['1.0.0', '99.0.0']) {
      const dependencies: Record<string, string> = {};
      for (const [index, name] of libraries.entries()) {
        const library = join(folder, `${version}-${index}`);
        await mkdir(library);
        await writeFile(join(library, 'package.json'), JSON.stringify({ name, version }));
        dependencies[name] = `file:../${version}-${index}`;
      }
      const project = join(folder, version);
      await mkdir(project);
      await writeFile(join(project, 'package.json'), JSON.stringify({ dependencies }));
      await run('npm', ['install', '--offline', '--no-audit', tarball], { cwd: project });
    }
  });

  it('adds less than 0.5 KB to a bundle for one document', async () => {
    const { root } = await consumer.project({
      files: {
        'main.js': `import { ListPetsDocument } from 'petstore-gateway-client'; globalThis.used = ListPetsDocument;`,
      },
    });
    await build({
      root,
      logLevel: 'error',
      build: { rolldownOptions: { input: join(root, 'main.js') }, modulePreload: false },
    });
    const [file = ''] = await readdir(join(root, 'dist/assets'));
    const bundle = await readFile(join(root, 'dist/assets', file));
    expect(String(bundle)).not.toMatch(/AddPet|Storefront|RATE_LIMITED/);
    expect(gzipSync(bundle).byteLength).toBeLessThan(512);
  });
});
