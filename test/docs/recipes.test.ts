import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { openPersistedDocuments } from '../../src/yoga/persisted-documents.ts';
import { blocksOf, commandsOf, filesOf } from '../support/blocks.ts';
import { consumerTest, createConsumer } from '../support/consumer.ts';
import { disposeAfterAll } from '../support/dispose.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { withoutOrders } from '../support/parts.ts';
import { installEnv, registryTest } from '../support/registry.ts';
import { startUpstream } from '../support/upstream.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const consumer = createConsumer();
const service = disposeAfterAll(await startGateway());

const gateway = 'http://127.0.0.1:4000';

/** Reads the files and commands of a section, with the URL of this test's gateway. */
async function recipe(page: string, section?: string) {
  const here = (text: string) => text.replaceAll(gateway, service.url);
  const files = Object.entries(await filesOf(`docs/${page}`, section));
  const commands = (await commandsOf(`docs/${page}`, section)).join('');
  return {
    files: Object.fromEntries(files.map(([name, content]) => [name, here(content)])),
    /** The packages that the section installs, without their versions. */
    packages: [...commands.matchAll(/^npm install (?:--save-dev )?(.+)$/gm)].flatMap(
      ([, names = '']) => names.split(' ').map((name) => name.replace(/(?<=.)@.*/, '')),
    ),
    /** Without installation commands: the packages are already installed. */
    commands: here(commands)
      .split('\n')
      .filter((line) => /^(node|npx) /.test(line)),
  };
}

const settings = JSON.stringify({
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext', 'dom'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
});
const node = ['@types/node', 'undici-types'];

/** Creates a project of these files, and checks their types. */
async function compile(
  packages: { readonly ours?: readonly string[]; readonly theirs?: readonly string[] },
  files: Readonly<Record<string, string>>,
) {
  const project = await consumer.project({
    ...packages,
    ours: [...(packages.ours ?? []), ...node],
    files: { ...files, 'tsconfig.json': settings },
  });
  expect(await project.tsc('7.0')).toBe('');
  return project;
}

describe('docs/error-states.md', () => {
  /** Creates the page's files for a gateway. Returns a function that runs a command, and joins the lines it prints. */
  async function open(url: string, others: Readonly<Record<string, string>> = {}) {
    const { commands } = await recipe('error-states.md');
    const names = await readdir('examples/states');
    const texts = await Promise.all(
      names.map((name) => readFile(`examples/states/${name}`, 'utf8')),
    );
    const here = texts.map((text, index) => [names[index], text.replaceAll(gateway, url)]);
    const { shell } = await compile(
      { ours: ['graphql', '@apollo/client', 'rxjs', '@urql/core', 'wonka'] },
      { ...Object.fromEntries(here), ...others },
    );
    const print = async (command: string) =>
      (await shell([command])).trim().replaceAll(/\s+/g, ' ');
    return { commands, print };
  }

  const screen = (names: string, problem: string) => `{ ${names}, problem: ${problem} }`;
  const nothing = 'found: [], empty: []';
  const all = "found: [ 'available', 'pending', 'orders' ], empty: []";
  const unavailable = "{ text: 'The store does not respond. Try again.' }";
  const lost = "{ text: 'It may have been saved. Look before you try again.', reload: true }";

  it('shows each state with fetch, Apollo Client and urql', async () => {
    // The pages below count the pets, and this one adds some.
    await using demo = await startGateway();
    const { commands, print } = await open(demo.url);
    const printed: string[] = [];
    for (const command of commands) printed.push(await print(command));
    expect(printed).toEqual([
      screen(all, 'undefined'),
      screen("found: [], empty: [ 'available', 'pending', 'orders' ]", 'undefined'),
      screen(nothing, unavailable),
      screen(nothing, lost),
      screen(nothing, "{ text: 'Wait 2 s.', retryAfterMs: 2000 }"),
    ]);
    for (const [command, expected] of [
      ['fetch.ts demo-flaky', screen("found: [ 'pending', 'orders' ], empty: []", unavailable)],
      ['urql.ts demo-forbidden', "{ text: 'The API key may not do this.' }"],
      ['fetch.ts demo-error', "{ text: 'Something went wrong. Report the request "],
      ['apollo.ts demo-invalid', "{ text: 'It was saved. Reload to see it.', reload: true }"],
      ['apollo.ts demo-unauthenticated', "{ text: 'Enter another key.' }"],
    ] as const) {
      expect(await print(`node ${command}`)).toContain(expected);
    }
  });

  it('shows that a write may have been done if the gateway’s response is lost', async () => {
    await using proxy = await startUpstream((_, response) => response.destroy());
    const { print } = await open(proxy.url, {
      'proxy.ts': `import { screenOf } from './screen.ts';
        const errors = [{ message: 'No gateway responded.', extensions: { code: 'UPSTREAM_UNAVAILABLE' } }];
        console.log(screenOf('mutation', null, errors), screenOf('query', null, errors));`,
    });
    expect(await print('node apollo.ts demo-key')).toBe(screen(nothing, lost));
    expect(proxy.seen).toHaveLength(1);
    const unreachable = screen(nothing, "{ text: 'The gateway cannot be reached. Try again.' }");
    expect(await print('node fetch.ts demo-key')).toBe(unreachable);
    expect(await print('node urql.ts demo-key')).toBe(unreachable);
    const both = [screen(nothing, lost), screen(nothing, unavailable)];
    expect(await print('node proxy.ts')).toBe(both.join(' '));
  });
});

describe('docs/clients', () => {
  it('runs a new application', async () => {
    const { files, commands } = await recipe('clients/README.md', 'New application');
    const { shell } = await compile({ ours: ['graphql'] }, files);
    expect(commands).toEqual(['node main.ts']);
    expect(await shell(commands)).toBe('1 Biscuit, 2 Marmalade\n');
  });

  it('types the application’s own documents', async () => {
    const { files, commands } = await recipe('clients/codegen.md', 'Codegen');
    const codegen = ['@graphql-codegen/cli', '@graphql-codegen/client-preset'];
    const types = ['@graphql-typed-document-node/core'];
    const { shell, tsc } = await consumer.project({
      ours: ['graphql', ...codegen, ...types, ...node],
      files: { ...files, 'tsconfig.json': settings },
    });
    expect(commands).toEqual(['npx graphql-codegen', 'node src/pending.ts']);
    expect(await shell(commands)).toBe('Captain Whiskers, Sir Hops-a-Lot\n');
    expect(await tsc('7.0')).toBe('');
  });

  it('sends the hashes of the application’s own documents', async () => {
    const { files, commands } = await recipe('clients/codegen.md', 'Codegen');
    const [{ block = '' } = {}] = await blocksOf('docs/clients/codegen.md', 'Hashes');
    const { 'codegen.ts': config = '', 'src/pending.ts': source = '' } = files;
    const sending = source
      .replace(
        "import { print } from 'graphql'",
        "import { persistedHash } from 'petstore-gateway-client'",
      )
      .replace(/^ {2}body: .*\n/m, block);
    expect(sending).not.toContain('print');
    const option = "persistedDocuments: { hashAlgorithm: 'sha256' }";
    expect(await readFile('docs/clients/codegen.md', 'utf8')).toContain(`\`${option}\``);
    const { root, shell } = await consumer.project({
      ours: ['graphql', '@graphql-codegen/cli', '@graphql-codegen/client-preset'],
      files: {
        'codegen.ts': config.replace('fragmentMasking: false', `fragmentMasking: false, ${option}`),
        'src/pending.ts': sending,
      },
    });
    const [generate = '', send = ''] = commands;
    await shell([generate]);
    const manifest = join(root, 'src/gql/persisted-documents.json');
    await using only = await startGateway({
      persistedDocuments: await openPersistedDocuments({ mode: 'only', files: [manifest] }),
    });
    await writeFile(join(root, 'src/pending.ts'), sending.replaceAll(service.url, only.url));
    expect(await shell([send])).toBe('Captain Whiskers, Sir Hops-a-Lot\n');
  });

  consumerTest('infers types with gql.tada', async () => {
    const { files, commands, packages: named } = await recipe('clients/others.md', 'gql.tada');
    const ours = named.filter((name) => name.startsWith('@types/'));
    const theirs = ['graphql', ...named.filter((name) => !ours.includes(name))];
    const packages = { ours, theirs };
    const { shell, tsc } = await consumer.project({ ...packages, files });
    expect(commands).toHaveLength(3);
    expect(await shell(commands)).toMatch(/\nPebble: sold\n$/);
    expect(await tsc('5.9')).toBe('');
    const wrong = {
      'src/wrong.ts': files['src/pets.ts']?.replace('status: sold', 'status: lost') ?? '',
    };
    const other = await consumer.project({ ...packages, files: { ...files, ...wrong } });
    expect(await other.shell(commands.slice(0, 2))).toMatch(/wrong\.ts.*lost/s);
  });

  it('configures editors and tools', async () => {
    const { files } = await recipe('clients/codegen.md', 'Editors');
    const { root, shell } = await consumer.project({
      ours: ['graphql', 'graphql-config'],
      files: {
        ...files,
        'main.js': `import { loadConfig } from 'graphql-config';
          const project = (await loadConfig({ rootDir: import.meta.dirname })).getDefault();
          console.log((await project.getSchema()).getQueryType().toString(), project.documents);`,
      },
    });
    expect(await shell(['node main.js'])).toBe('Query src/**/*.{ts,tsx,graphql}\n');
    const packed = join(root, 'node_modules/petstore-gateway-client/schema.graphql');
    const schema = join(import.meta.dirname, '../../schema/schema.graphql');
    expect(await readFile(packed, 'utf8')).toBe(await readFile(schema, 'utf8'));
  });

  registryTest('installs graphql-eslint beside the version of graphql on the page', async () => {
    const [, major] =
      (await readFile('docs/clients/codegen.md', 'utf8')).match(
        /`graphql-eslint` \(beside graphql (\d+)\)/,
      ) ?? [];
    const { root } = await consumer.project({ hasClient: false });
    const plugin = ['@graphql-eslint/eslint-plugin@4.4.1', 'eslint@9'];
    const install = ['install', '--dry-run', `graphql@${major}`, ...plugin];
    await promisify(execFile)('npm', install, { cwd: root, env: installEnv });
  });

  consumerTest('sends requests with graphql-request', async () => {
    const { files, commands } = await recipe('clients/others.md', 'graphql-request');
    const packages = { theirs: ['graphql', 'graphql-request'] };
    const right = await compile(packages, files);
    expect(await right.shell(commands)).toBe('Biscuit, Marmalade\n');
    const { 'request.ts': text = '' } = files;
    const wrong = await consumer.project({
      ...packages,
      files: { 'request.ts': text.replace('demo-key', 'wrong-key') },
    });
    expect(await wrong.shell(commands)).toBe('This API key is not accepted.\n');
  });

  it('reads with the query function of TanStack Query, from Python, and as REST with every digit', async () => {
    const tanstack = (await recipe('clients/others.md', 'TanStack Query')).files;
    const { 'pets.py': python = '' } = (await recipe('clients/others.md', 'Python')).files;
    const { files: rest } = await recipe('clients/others.md', 'REST clients');
    const { shell } = await compile(
      { ours: ['graphql'] },
      {
        ...tanstack,
        ...rest,
        'pets.py': python,
        'main.ts': `import { listPets } from './list-pets.ts';
          const { pets } = await listPets(2).queryFn(new AbortController());
          console.log(pets?.map(({ name }) => name).join());`,
      },
    );
    expect(await shell(['node main.ts'])).toBe('Biscuit,Marmalade\n');
    expect(await shell(['node rest.ts'])).toMatch(/id: 1n.*categoryId: 2n/s);
    const hasPython = spawnSync('python3', ['--version']).status === 0;
    if (hasPython) expect(await shell(['python3 pets.py'])).toBe("['Biscuit', 'Marmalade'] None\n");
  });

  consumerTest('runs tests with MSW', async () => {
    const { files, commands } = await recipe('clients/msw.md');
    const { shell } = await compile({ theirs: ['graphql', 'msw'] }, files);
    expect(commands).toEqual(['node --test']);
    expect(await shell(commands)).toMatch(/pass 2\n/);
  });

  consumerTest('updates a list optimistically with Graphcache', async () => {
    const { files } = await recipe('clients/urql.md', 'Graphcache');
    const { shell } = await compile(
      { theirs: ['graphql', '@urql/core', '@urql/exchange-graphcache'] },
      {
        ...files,
        'main.ts': `import { AddPetDocument, ListPetsDocument } from 'petstore-gateway-client';
          import { client } from './client.ts';
          const input = { name: 'Rex', categoryId: '9223372036854775807' };
          const { unsubscribe } = client.query(ListPetsDocument, { limit: 100 }).subscribe(({ data }) => {
            const { id, name, categoryId } = data?.pets?.at(-1) ?? {};
            console.log(data?.pets?.length, id, name, categoryId);
            if (id === '12') client.mutation(AddPetDocument, { input }).toPromise();
            if (id === '13') queueMicrotask(() => unsubscribe());
          });`,
      },
    );
    const added = 'Rex 9223372036854775807';
    const printed = await shell(['node main.ts']);
    expect(printed.split('\n').slice(1)).toEqual([`13 unsaved ${added}`, `13 13 ${added}`, '']);
  });

  consumerTest('shows a part of a query and defers another with Graphcache', async () => {
    const { files, commands } = await recipe('clients/urql.md', 'Graphcache');
    const { shell, tsc } = await consumer.project({
      ours: node,
      theirs: ['graphql', '@urql/core', '@urql/exchange-graphcache'],
      files: {
        'write-schema.ts': files['write-schema.ts'] ?? '',
        'main.ts': `import { Client, fetchExchange, gql } from '@urql/core';
          import { cacheExchange } from '@urql/exchange-graphcache';
          import { DeferredStorefrontDocument } from 'petstore-gateway-client';
          import schema from './schema.json' with { type: 'json' };
          const open = () => new Client({
            url: '${service.url}/graphql',
            fetchOptions: { headers: { authorization: 'Bearer demo-key' } },
            exchanges: [cacheExchange({ schema }), fetchExchange],
          });
          open().query(DeferredStorefrontDocument, {}, { requestPolicy: 'network-only' }).subscribe(
            ({ data, hasNext }) => {
              console.log(data?.pets?.length, data?.orders !== undefined, hasNext);
              if (!hasNext) showPart();
            },
          );
          async function showPart() {
            const client = open();
            await client.query(gql('{ pets(limit: 2) { id name } }'), {});
            client.query(gql('{ pets(limit: 2) { id name } orders }'), {}).subscribe(
              ({ data, stale }) => console.log(data.pets.length, data.orders?.length, stale),
            );
          }`,
        'tsconfig.json': settings,
      },
    });
    expect(await shell(commands)).toBe('');
    expect(await tsc('7.0')).toBe('');
    const printed = ['3 false true', '3 true false', '2 undefined true', '2 2 false', ''];
    expect((await shell(['node main.ts'])).split('\n')).toEqual(printed);
  });

  describe('Relay', () => {
    const open = async (url: string, ...sources: readonly string[]) => {
      const { files, commands } = await recipe('clients/relay.md');
      const { 'src/environment.ts': environment = '' } = files;
      const project = await consumer.project({
        theirs: ['relay-runtime', 'relay-compiler'],
        files: {
          ...files,
          'src/environment.ts': environment.replaceAll(service.url, url),
          'src/pets.ts': sources.map((source) => `graphql\`${source}\`;`).join('\n'),
          // A bundler plugin would replace the literals with the generated documents.
          'main.ts': `import relay from 'relay-runtime';
            import { environment } from './src/environment.ts';
            import query from './src/__generated__/petsQuery.graphql.ts';
            const data = await relay.fetchQuery(environment, query, {}).toPromise();
            const records = Object.keys(environment.getStore().getSource().toJSON());
            console.log(JSON.stringify(data), records.filter((id) => id.startsWith('Pet:')).join());`,
        },
      });
      return { ...project, compiled: await project.shell(commands) };
    };

    consumerTest('reads data beside an error, and stores each pet once', async () => {
      await using failing = await startGateway({ petStore: withoutOrders(await openBuiltin()) });
      const { compiled, shell } = await open(
        failing.url,
        'query petsQuery { pets(limit: 1) { name } sold: pets(limit: 1) { name } orders }',
        'mutation petsMutation($input: AddPetInput!) { addPet(input: $input) { id ...pets_pet } }',
        'fragment pets_pet on Pet { name categoryId }',
        'fragment pets_query on Query @refetchable(queryName: "petsRefetch") { pets { ...pets_pet } }',
      );
      expect(compiled).toContain('compiled documents');
      const pets = [{ name: 'Biscuit' }];
      const data = { pets, sold: pets, orders: null };
      expect(await shell(['node main.ts'])).toBe(`${JSON.stringify(data)} Pet:1\n`);
    });

    consumerTest('reads deferred fragments as they arrive', async () => {
      const { shell, root } = await open(
        service.url,
        'query petsQuery { pets(limit: 1) { name ...pets_pet @defer } ...pets_orders @defer }',
        'fragment pets_pet on Pet { status }',
        'fragment pets_orders on Query { orders }',
      );
      const main = `import relay from 'relay-runtime';
        import { environment } from './src/environment.ts';
        import query from './src/__generated__/petsQuery.graphql.ts';
        const stored = () => {
          const source = environment.getStore().getSource();
          return ['client:root', 'Pet:1'].map((id) => Object.keys(source.get(id)).at(-1)).join();
        };
        const shown = new Set();
        relay.fetchQuery(environment, query, {}).subscribe({
          next: () => shown.add(stored()),
          complete: () => console.log(shown.size > 1, [...shown].at(-1)),
          error: ({ message }) => console.log(message),
        });`;
      await writeFile(join(root, 'main.ts'), main);
      expect(await shell(['node main.ts'])).toBe('true orders,status\n');
      await using cut = await startUpstream((_, response) => {
        response.write(
          '\r\n---\r\n\r\n{"data":{"pets":[{"id":"1","name":"a"}]},"hasNext":true}\r\n---',
        );
        setImmediate(() => response.end());
      });
      const environment = join(root, 'src/environment.ts');
      await writeFile(
        environment,
        (await readFile(environment, 'utf8')).replace(service.url, cut.url),
      );
      expect(await shell(['node main.ts'])).toBe('The response is not complete.\n');
    });

    consumerTest('has non-null types for fields that are null only beside an error', async () => {
      const { files, commands } = await recipe('clients/relay.md');
      const { 'relay.config.json': config = '' } = files;
      const { shell, tsc } = await consumer.project({
        ours: node,
        theirs: ['relay-runtime', 'relay-compiler'],
        files: {
          ...files,
          'relay.config.json': config.replace('/schema.graphql', '/semantic-non-null.graphql'),
          'src/pets.ts': `import relay from 'relay-runtime';
            const { graphql } = relay;
            graphql\`query petsQuery @throwOnFieldError {
              pets(limit: 1) { name status }
              orders
              pet(id: 404) @catch { name }
            }\`;
            graphql\`query petsThrowingQuery @throwOnFieldError { pet(id: 404) { name } }\`;
            graphql\`query petsPlainQuery { pets { name } }\`;
            graphql\`mutation petsMutation($input: AddPetInput!) @catch { addPet(input: $input) { id } }\`;`,
          'main.ts': `import relay from 'relay-runtime';
            import type { petsMutation } from './src/__generated__/petsMutation.graphql.ts';
            import type { petsPlainQuery } from './src/__generated__/petsPlainQuery.graphql.ts';
            import query, { type petsQuery } from './src/__generated__/petsQuery.graphql.ts';
            import throwing from './src/__generated__/petsThrowingQuery.graphql.ts';
            import { environment } from './src/environment.ts';

            const data = await relay.fetchQuery<petsQuery>(environment, query, {}).toPromise();
            console.log(data?.pets.map(({ name }) => name).join(), data?.pet.ok);
            await relay.fetchQuery(environment, throwing, {}).toPromise()
              .catch(({ message }) => console.log(message));

            export const nullable = (
              { pets, orders }: petsQuery['response'],
              plain: petsPlainQuery['response'],
            ) => [
              // @ts-expect-error The orders can be null without an error.
              orders.length,
              // @ts-expect-error A pet can have no status.
              pets[0].status.length,
              // @ts-expect-error This query does not handle errors.
              plain.pets.length,
            ];
            export const idOf = (added: petsMutation['response']) => added.ok && added.value.addPet.id;`,
          'tsconfig.json': settings,
        },
      });
      expect(await shell(commands)).toContain('compiled documents');
      expect(await tsc('7.0')).toBe('');
      expect(await shell(['node main.ts'])).toMatch(/^Biscuit false\nRelay: Unexpected response/);
    });
  });
});

const apollo = `import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
  import { GraphQL17Alpha9Handler } from '@apollo/client/incremental';
  import { DeferredStorefrontDocument } from 'petstore-gateway-client';
  const client = new ApolloClient({
    link: new HttpLink({
      uri: '${service.url}/graphql',
      headers: { authorization: 'Bearer demo-key' },
    }),
    cache: new InMemoryCache(),
    incrementalHandler: new GraphQL17Alpha9Handler(),
  });
  const query = client.watchQuery({ query: DeferredStorefrontDocument, errorPolicy: 'all' });
  const subscription = query.subscribe(({ data, dataState }) => {
    if (data?.pets) console.log(dataState, data.pets.length, 'pets');
    if (data?.orders) console.log(dataState, 'with orders');
    if (dataState === 'complete') subscription.unsubscribe();
  });`;

const urql = `import { Client, fetchExchange } from '@urql/core';
  import { DeferredStorefrontDocument } from 'petstore-gateway-client';
  const client = new Client({
    url: '${service.url}/graphql',
    fetchOptions: { headers: { authorization: 'Bearer demo-key' } },
    exchanges: [fetchExchange],
  });
  client.query(DeferredStorefrontDocument, {}).subscribe(({ data, hasNext }) => {
    console.log(data?.pets?.length, 'pets', data?.orders ? 'with orders' : '', hasNext);
  });`;

describe('incremental delivery', () => {
  it.each([
    [
      'Apollo Client',
      apollo,
      ['@apollo/client', 'rxjs', '@graphql-typed-document-node/core'],
      'streaming 3 pets\ncomplete 3 pets\ncomplete with orders\n',
    ],
    ['urql', urql, ['@urql/core'], '3 pets  true\n3 pets with orders false\n'],
  ])('show the pets before the orders: %s', async (_client, program, packages, printed) => {
    const { shell } = await compile({ ours: ['graphql', ...packages] }, { 'main.ts': program });
    expect(await shell(['node main.ts'])).toBe(printed);
  });
});
