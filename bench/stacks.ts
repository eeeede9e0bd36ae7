import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentId } from './shapes.ts';
import type { Database, Feature } from './workloads.ts';

/** The settings that a server is launched with. */
export interface LaunchOptions {
  readonly port: number;
  /** The base address of the REST service, or undefined for the built-in backend. */
  readonly upstream: string | undefined;
  readonly databaseUrl: string;
  /** The paths of the workload's REST calls, relative to the base address. */
  readonly paths: readonly string[];
  /** The documents that the workload requests by hash, if any. */
  readonly persisted: readonly string[] | undefined;
  /** A folder for this server's files. */
  readonly folder: string;
}

/** A program with its arguments and additional environment variables. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** A server of the benchmark. */
export interface Stack {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  /** The packages in `bench/peers` that it uses. */
  readonly packages: readonly string[];
  /** The optional features that it supports. */
  readonly features: readonly Feature[];
  /** The database that it uses; a server without one calls the REST service. */
  readonly database?: Database;
  /** The command that starts it. */
  command(options: LaunchOptions): Command;
  /** The reason why this machine cannot run it, or undefined if it can. */
  readonly unsupportedReason?: () => string | undefined;
  /** Translates a query, for a schema with other names. */
  readonly dialect?: (query: string) => string;
  /** Whether it responds with the unchanged bodies of the REST calls instead of GraphQL. */
  readonly isPassThrough?: boolean;
}

/** The folder of the peers, with their own packages and lock file. */
export const peers = fileURLToPath(new URL('peers', import.meta.url));

const root = fileURLToPath(new URL('..', import.meta.url));

/** The gateway as deployed: built, in production mode, with its defaults. */
export const gateway = gatewayStack('gateway', 'petstore-gateway', join(root, 'dist/bin/main.js'));

/** The gateway without a build, as run by `npm start`. Only its start time differs. */
export const sources = gatewayStack(
  'sources',
  'petstore-gateway, not built',
  join(root, 'src/main.ts'),
);

/** The built gateway of another checkout. @throws when the checkout has no build. */
export function against(folder: string): Stack {
  const program = resolve(folder, 'dist/bin/main.js');
  if (!existsSync(program)) {
    throw new Error(`--against: expected a checkout with a build, but ${program} does not exist.`);
  }
  return gatewayStack('against', `petstore-gateway, ${folder}`, program);
}

/** The built library, mounted in other servers. */
export const mounted: readonly Stack[] = [
  gatewayStack('mounted-node', 'Mounted in node:http', join(root, 'bench/mounted/node-http.mjs')),
  gatewayStack('mounted-hono', 'Mounted in Hono', join(root, 'bench/mounted/hono.mjs')),
  {
    ...gatewayStack(
      'execute',
      'gateway.execute behind node:http',
      join(root, 'bench/mounted/execute.mjs'),
    ),
    features: ['sqlite', 'postgres'],
  },
];

const tailcallBinary = join(peers, 'node_modules/@tailcallhq/core-linux-x64-gnu/bin/tailcall');
const libc = process.env['TAILCALL_LIBC'];
const tailcallProgram: readonly [string, ...string[]] = libc
  ? [join(libc, 'ld-linux-x86-64.so.2'), '--library-path', libc, tailcallBinary]
  : [tailcallBinary];

const tailcall: Stack = {
  name: 'tailcall',
  title: 'Tailcall (Rust)',
  packages: ['@tailcallhq/core-linux-x64-gnu'],
  features: [],
  command({ port, upstream = '', folder }) {
    // This state file disables Tailcall's check for updates.
    mkdirSync(join(folder, 'tailcall'));
    writeFileSync(join(folder, 'tailcall/.state'), '0');
    const config = join(folder, 'tailcall.graphql');
    const text = readFileSync(join(peers, 'tailcall.graphql'), 'utf8');
    writeFileSync(config, text.replaceAll('UPSTREAM', upstream).replaceAll('PORT', String(port)));
    return {
      argv: [...tailcallProgram, 'start', config],
      env: { XDG_CACHE_HOME: folder, TAILCALL_TRACKER: 'false', TAILCALL_LOG_LEVEL: 'error' },
    };
  },
  unsupportedReason() {
    const [file, ...options] = tailcallProgram;
    const { status, stderr, error } = spawnSync(file, [...options, '--version'], {
      encoding: 'utf8',
    });
    if (status === 0) return undefined;
    const reason = error?.message ?? stderr.trim().split('\n').at(-1) ?? '';
    // The loader's message contains the missing library version between two paths.
    const missing = /version (.*) \(/.exec(reason)?.[1];
    return `${missing ?? reason}; set TAILCALL_LIBC to the folder of a newer C library.`;
  },
};

const hive: Stack = {
  name: 'hive',
  title: 'Hive Gateway + OpenAPI',
  packages: ['@graphql-hive/gateway', '@omnigraph/openapi'],
  features: ['get'],
  command({ port, upstream = '', folder }) {
    const supergraph = join(folder, 'supergraph.graphql');
    const compose = join(peers, 'node_modules/@graphql-mesh/compose-cli/esm/bin.js');
    execFileSync(process.execPath, [compose, '-c', 'hive/mesh.config.mjs', '-o', supergraph], {
      cwd: peers,
      env: { UPSTREAM: upstream },
      stdio: 'pipe',
    });
    const serve = join(peers, 'node_modules/@graphql-hive/gateway/dist/bin.js');
    const address = ['--host', '127.0.0.1', '--port', String(port)];
    return { argv: [process.execPath, serve, ...address, 'supergraph', supergraph], env: {} };
  },
  dialect: (query) =>
    query
      .replace('$limit: Int', '$limit: PositiveInt')
      .replaceAll(': pets(', ': listPets(')
      .replace(': orders', ': listOrders'),
};

/** The gateway and its peers, in the order of the rounds. */
export const stacks: readonly Stack[] = [
  gateway,
  {
    ...peerScript('pass-through.mjs', ['undici'], { UNDICI: 'dispatch' }),
    name: 'pass-through-dispatch',
    title: 'Pass-through (undici.dispatch)',
    isPassThrough: true,
  },
  {
    ...peerScript('pass-through.mjs', ['undici']),
    name: 'pass-through',
    title: 'Pass-through (undici.request)',
    isPassThrough: true,
  },
  {
    ...peerScript('mercurius.mjs', ['mercurius', 'fastify', 'graphql-jit', 'undici']),
    name: 'mercurius',
    title: 'Mercurius + JIT + undici',
  },
  {
    ...peerScript('mercurius-sqlite.mjs', ['mercurius', 'fastify', 'graphql-jit']),
    name: 'mercurius-sqlite',
    title: 'Mercurius + JIT + node:sqlite',
    database: 'sqlite',
  },
  {
    ...peerScript('mercurius-postgres.mjs', ['mercurius', 'fastify', 'graphql-jit', 'pg']),
    name: 'mercurius-postgres',
    title: 'Mercurius + JIT + pg',
    database: 'postgres',
  },
  tailcall,
  {
    ...peerScript('yoga.mjs', ['graphql-yoga']),
    name: 'yoga',
    title: 'GraphQL Yoga + fetch',
  },
  {
    ...peerScript('apollo.mjs', ['@apollo/server', '@apollo/datasource-rest']),
    name: 'apollo',
    // Apollo Server rejects a GET without one of its own headers.
    features: [],
    title: 'Apollo Server + datasource-rest',
  },
  hive,
];

/** A peer that is a short script in `bench/peers`. */
function peerScript(file: string, packages: readonly string[], env: Record<string, string> = {}) {
  return {
    packages,
    features: ['get'] as const,
    command: ({ port, upstream = '', databaseUrl, paths }: LaunchOptions): Command => ({
      argv: [process.execPath, join(peers, file)],
      env: {
        PORT: String(port),
        UPSTREAM: upstream,
        DATABASE_URL: databaseUrl,
        PATHS: paths.join(' '),
        ...env,
      },
    }),
  };
}

function gatewayStack(name: string, title: string, program: string): Stack {
  return {
    name,
    title,
    packages: [],
    features: ['sqlite', 'postgres', 'persisted', 'get'],
    command: ({ port, upstream, databaseUrl, persisted, folder }) => ({
      argv: [process.execPath, program],
      env: {
        PORT: String(port),
        ...(upstream ? { PETSTORE_BASE_URL: upstream } : { DATABASE_URL: databaseUrl }),
        ...(persisted && {
          PERSISTED_DOCUMENTS: 'allow',
          PERSISTED_DOCUMENTS_FILE: writeManifest(persisted, folder),
        }),
      },
    }),
  };
}

/** Writes the manifest of these persisted documents. @returns its path. */
function writeManifest(documents: readonly string[], folder: string): string {
  const file = join(folder, 'persisted-documents.json');
  const manifest = Object.fromEntries(documents.map((text) => [documentId(text), text]));
  writeFileSync(file, JSON.stringify(manifest));
  return file;
}
