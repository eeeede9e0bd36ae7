import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentId } from './shapes.ts';
import type { Feature } from './workloads.ts';

/** Where and for what a server is started. */
export interface Place {
  readonly port: number;
  /** The base address of the REST service, or undefined for the built-in backend. */
  readonly upstream: string | undefined;
  readonly databaseUrl: string;
  /** The REST calls of the workload, below the base address. */
  readonly paths: readonly string[];
  /** The texts of the documents that are asked for by their hash, if any are. */
  readonly persisted: readonly string[] | undefined;
  /** A folder of its own, for files that it needs. */
  readonly folder: string;
}

/** A program with its arguments, and what its environment holds besides the usual. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** One of the servers that are compared. */
export interface Stack {
  /** What `--only` calls it. */
  readonly name: string;
  readonly title: string;
  /** The packages of the peers that it stands on. */
  readonly packages: readonly string[];
  /** What it can do that not every server can. */
  readonly features: readonly Feature[];
  /** How to start it. */
  command(place: Place): Command;
  /** Why this machine can't run it, if it can't. */
  readonly obstacle?: () => string | undefined;
  /** A query in the words of its schema, where they are others. */
  readonly dialect?: (query: string) => string;
  /** Whether it answers the bodies of the REST calls as they are, instead of GraphQL. */
  readonly isBare?: boolean;
}

/** The folder of the peers, which have packages of their own. */
export const peers = fileURLToPath(new URL('peers', import.meta.url));

const root = fileURLToPath(new URL('..', import.meta.url));

/** The gateway as it is deployed: built, in production, all defaults. */
export const gateway = ours('gateway', 'petstore-gateway', join(root, 'dist/bin/main.js'));

/** The same without a build, as `npm start` runs it. Only its start is another. */
export const sources = ours('sources', 'petstore-gateway, not built', join(root, 'src/main.ts'));

/** The built gateway of another checkout. @throws when there is none. */
export function against(folder: string): Stack {
  const program = resolve(folder, 'dist/bin/main.js');
  if (!existsSync(program)) {
    throw new Error(`--against: expected a checkout with a build, found no ${program}.`);
  }
  return ours('against', `petstore-gateway, ${folder}`, program);
}

/** The built library in other servers. */
export const mounted: readonly Stack[] = [
  ours('mounted-node', 'Mounted in node:http', join(root, 'bench/mounted/node-http.mjs')),
  ours('mounted-hono', 'Mounted in Hono', join(root, 'bench/mounted/hono.mjs')),
  {
    ...ours('execute', 'gateway.execute behind node:http', join(root, 'bench/mounted/execute.mjs')),
    features: ['builtin'],
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
    // It asks for updates, unless its last look at them was long ago.
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
  obstacle() {
    const [file, ...options] = tailcallProgram;
    const { status, stderr, error } = spawnSync(file, [...options, '--version'], {
      encoding: 'utf8',
    });
    if (status === 0) return undefined;
    const reason = error?.message ?? stderr.trim().split('\n').at(-1) ?? '';
    // The loader says which library it lacks between two paths.
    const missing = /version (.*) \(/.exec(reason)?.[1];
    return `${missing ?? reason}; TAILCALL_LIBC may name another C library.`;
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

/** The gateway and its peers, in the order in which they take turns. */
export const stacks: readonly Stack[] = [
  gateway,
  {
    ...script('pass-through.mjs', ['undici'], { UNDICI: 'dispatch' }),
    name: 'pass-through-dispatch',
    title: 'Pass-through (undici.dispatch)',
    isBare: true,
  },
  {
    ...script('pass-through.mjs', ['undici']),
    name: 'pass-through',
    title: 'Pass-through (undici.request)',
    isBare: true,
  },
  {
    ...script('mercurius.mjs', ['mercurius', 'fastify', 'graphql-jit', 'undici']),
    name: 'mercurius',
    title: 'Mercurius + JIT + undici',
  },
  tailcall,
  {
    ...script('yoga.mjs', ['graphql-yoga']),
    name: 'yoga',
    title: 'GraphQL Yoga + fetch',
  },
  {
    ...script('apollo.mjs', ['@apollo/server', '@apollo/datasource-rest']),
    name: 'apollo',
    // It refuses a GET without a header of Apollo's own.
    features: [],
    title: 'Apollo Server + datasource-rest',
  },
  hive,
];

/** A peer that is a few lines of ours around its packages. */
function script(file: string, packages: readonly string[], env: Record<string, string> = {}) {
  return {
    packages,
    features: ['get'] as const,
    command: ({ port, upstream = '', paths }: Place): Command => ({
      argv: [process.execPath, join(peers, file)],
      env: { PORT: String(port), UPSTREAM: upstream, PATHS: paths.join(' '), ...env },
    }),
  };
}

function ours(name: string, title: string, program: string): Stack {
  return {
    name,
    title,
    packages: [],
    features: ['builtin', 'persisted', 'get'],
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

/** Writes the manifest of these documents. @returns its path. */
function writeManifest(documents: readonly string[], folder: string): string {
  const file = join(folder, 'persisted-documents.json');
  const manifest = Object.fromEntries(documents.map((text) => [documentId(text), text]));
  writeFileSync(file, JSON.stringify(manifest));
  return file;
}
