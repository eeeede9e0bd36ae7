import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Message } from './shapes.ts';
import { peers } from './stacks.ts';
import type { Workload } from './workloads.ts';

/** The requests to send to a server, and for how long. */
export interface Load {
  /** The server's origin, without a path. */
  readonly url: string;
  /** The requests, sent in rotation. */
  readonly messages: readonly Message[];
  /** The correct response bodies. Every response must equal one of them. */
  readonly expectedBodies: readonly string[];
  readonly keys: Workload['keys'];
  /** The API key, or the prefix of the generated keys. */
  readonly apiKey: string;
  readonly seconds: number;
  /** The number of concurrent connections. */
  readonly connections: number;
}

/** The measurements of one load. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The default number of concurrent connections. */
export const defaultConnections = 64;

/** An installed load generator. */
export interface LoadGenerator {
  readonly name: string;
  /** @throws when a response has an unexpected body or status, or never arrives. */
  run(load: Load): Promise<LoadResult>;
}

/**
 * Returns wrk if it is installed, otherwise autocannon, which uses more of the shared core.
 * @throws when neither is installed.
 */
export function findLoadGenerator(): LoadGenerator {
  const version = wrkVersion();
  if (version !== undefined) {
    return { name: version, run: (load) => run('wrk', wrkArguments(load)) };
  }
  if (!existsSync(join(peers, 'node_modules/autocannon'))) {
    throw new Error('Expected wrk or autocannon, found neither. Run: npm ci --prefix bench/peers');
  }
  const script = join(peers, 'autocannon.mjs');
  return {
    name: 'autocannon',
    run: (load) => run(process.execPath, [script, JSON.stringify(load)]),
  };
}

function wrkVersion(): string | undefined {
  const { error, stdout } = spawnSync('wrk', ['--version'], { encoding: 'utf8' });
  return error ? undefined : /^wrk \S+/.exec(stdout)?.[0];
}

function wrkArguments(load: Load): string[] {
  const { url, messages, expectedBodies, apiKey, keys, seconds, connections } = load;
  const script = fileURLToPath(new URL('load.lua', import.meta.url));
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
  const requests = messages.map((message) => toText(message, new URL(url).host, apiKey));
  return [
    ...options,
    url,
    '--',
    keys,
    apiKey,
    String(expectedBodies.length),
    ...expectedBodies,
    ...requests,
  ];
}

/** The request in HTTP/1.1 wire format (RFC 9112). */
function toText({ method, path, headers, body }: Message, host: string, apiKey: string): string {
  const sent = {
    host,
    authorization: `Bearer ${apiKey}`,
    ...headers,
    ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
  };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Runs a generator, which prints its measurements as JSON in its last line of output. */
async function run(file: string, args: readonly string[]): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(file, args);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  const result = JSON.parse(last) as LoadResult & { wrong: number; broken: number };
  const { requests, wrong, broken } = result;
  if (wrong + broken > 0) {
    throw new Error(
      `Expected ${requests} correct responses, but ${wrong} were wrong and ${broken} failed or timed out.`,
    );
  }
  return result;
}
