import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workloads } from './workloads.ts';

/** The settings that a server is launched with. */
export interface LaunchOptions {
  readonly port: number;
  /** The base address of the REST service. */
  readonly upstream: string;
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
  /** The command that starts it. */
  command(options: LaunchOptions): Command;
  /** The reason why this machine cannot run it, or undefined if it can. */
  readonly unsupportedReason?: () => string | undefined;
  /** Translates a query, for a schema with other names. */
  readonly dialect?: (query: string) => string;
  /** Whether it responds with the unchanged bodies of the REST calls of the workload in its URL. */
  readonly isPassThrough?: boolean;
}

/** The folder of the peers, with their own packages and lock file. */
export const peers = fileURLToPath(new URL('peers', import.meta.url));

const root = fileURLToPath(new URL('..', import.meta.url));

/** The gateway as deployed: built, in production mode, with its defaults. */
export const gateway = gatewayStack('gateway', 'this gateway', join(root, 'dist/bin/main.js'));

/** The gateway without a build, as run by `npm start`, for tests. */
export const sources = gatewayStack('sources', 'Sources', join(root, 'src/main.ts'));

/** The built gateway of another checkout. @throws when the checkout has no build. */
export function against(folder: string): Stack {
  const program = resolve(folder, 'dist/bin/main.js');
  if (!existsSync(program)) {
    throw new Error(`--against: expected a checkout with a build, but ${program} does not exist.`);
  }
  return gatewayStack('against', `gateway of ${folder}`, program);
}

const tailcallBinary = join(peers, 'node_modules/@tailcallhq/core-linux-x64-gnu/bin/tailcall');
const libc = process.env['TAILCALL_LIBC'];
const tailcallProgram: readonly [string, ...string[]] = libc
  ? [join(libc, 'ld-linux-x86-64.so.2'), '--library-path', libc, tailcallBinary]
  : [tailcallBinary];

const tailcall: Stack = {
  name: 'tailcall',
  title: 'Tailcall',
  packages: ['@tailcallhq/core-linux-x64-gnu'],
  command({ port, upstream, folder }) {
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
    const missing = /version .(\S+)' not found/.exec(reason)?.[1];
    if (missing === undefined) return reason;
    return `needs ${missing}; TAILCALL_LIBC can name the folder of a newer C library.`;
  },
};

const hive: Stack = {
  name: 'hive',
  title: 'Hive Gateway',
  packages: ['@graphql-hive/gateway', '@omnigraph/openapi'],
  command({ port, upstream, folder }) {
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

/** The gateway and its peers, in the order of the rows. */
export const stacks: readonly Stack[] = [
  gateway,
  peerScript('mercurius', 'Mercurius + JIT', ['mercurius', 'fastify', 'graphql-jit', 'undici']),
  tailcall,
  peerScript('yoga', 'Yoga', ['graphql-yoga']),
  peerScript('apollo', 'Apollo Server', ['@apollo/server', '@apollo/datasource-rest']),
  hive,
  { ...peerScript('pass-through', 'Pass-through', ['undici']), isPassThrough: true },
];

/** A peer that is a short script in `bench/peers`. */
function peerScript(name: string, title: string, packages: readonly string[]): Stack {
  return {
    name,
    title,
    packages,
    command: ({ port, upstream }) => ({
      argv: [process.execPath, join(peers, `${name}.mjs`)],
      env: {
        PORT: String(port),
        UPSTREAM: upstream,
        PATHS: JSON.stringify(
          Object.fromEntries(workloads.map(({ name, paths }) => [`/${name}`, paths])),
        ),
      },
    }),
  };
}

function gatewayStack(name: string, title: string, program: string): Stack {
  return {
    name,
    title,
    packages: [],
    command: ({ port, upstream }) => ({
      argv: [process.execPath, program],
      env: { PORT: String(port), PETSTORE_BASE_URL: upstream },
    }),
  };
}
