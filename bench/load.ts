import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Message } from './shapes.ts';
import { peers } from './stacks.ts';
import type { Workload } from './workloads.ts';

/** What a server is asked, and for how long. */
export interface Load {
  /** Where the server is, without a path. */
  readonly url: string;
  /** The requests, sent in rotation. */
  readonly messages: readonly Message[];
  /** The texts of the right answers; every response must equal one. */
  readonly answers: readonly string[];
  readonly keys: Workload['keys'];
  /** The API key, or how each one begins. */
  readonly apiKey: string;
  readonly seconds: number;
  /** How many connections are kept busy. */
  readonly connections: number;
}

/** What came of a load. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** How many connections a load keeps busy unless another number is given. */
export const usualConnections = 64;

/** A load generator that is installed here. */
export interface LoadGenerator {
  readonly name: string;
  /** @throws when a response was not the right answer with status 200, or did not come. */
  run(load: Load): Promise<LoadResult>;
}

/**
 * wrk where there is one, else autocannon, which takes more of the core that it shares.
 * @throws when there is neither.
 */
export function findLoadGenerator(): LoadGenerator {
  const version = wrkVersion();
  if (version !== undefined) {
    return { name: version, run: (load) => run('wrk', wrkArguments(load)) };
  }
  if (!existsSync(join(peers, 'node_modules/autocannon'))) {
    throw new Error('Expected wrk or autocannon, found neither: npm ci --prefix bench/peers.');
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
  const { url, messages, answers, apiKey, keys, seconds, connections } = load;
  const script = fileURLToPath(new URL('load.lua', import.meta.url));
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
  const requests = messages.map((message) => toText(message, new URL(url).host, apiKey));
  return [...options, url, '--', keys, apiKey, String(answers.length), ...answers, ...requests];
}

/** A request as it goes over the wire (HTTP/1.1, RFC 9112). */
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

/** Runs a generator; the last line that it prints is what came of it, as JSON. */
async function run(file: string, args: readonly string[]): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(file, args);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  const result = JSON.parse(last) as LoadResult & { wrong: number; broken: number };
  const { requests, wrong, broken } = result;
  if (wrong + broken > 0) {
    throw new Error(
      `Expected ${requests} right answers, received ${wrong} others and ${broken} broken connections or timeouts.`,
    );
  }
  return result;
}
