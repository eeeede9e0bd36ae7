import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Message } from './shapes.ts';
import type { Workload } from './workloads.ts';

/** What a load sends, and where. */
export interface Target {
  /** The server's origin, without a path. */
  readonly url: string;
  readonly message: Message;
  /** The correct response body. Every response must equal it. */
  readonly expectedBody: string;
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

/** Returns the version of wrk. @throws when it is not installed. */
export function findWrk(): string {
  const { error, stdout } = spawnSync('wrk', ['--version'], { encoding: 'utf8' });
  // wrk prints its version, then its usage, and exits with status 1.
  const version = error ? undefined : /^wrk \S+/.exec(stdout)?.[0];
  if (version !== undefined) return version;
  throw new Error('Expected wrk, but it is not installed. On Debian: apt-get install wrk');
}

/**
 * Puts a running server under load. Infinitely many keys are new in each load, others the same.
 * @throws when a response has an unexpected body or status, or never arrives.
 */
export async function load(
  { url, message, expectedBody }: Target,
  keys: Workload['keys'],
  seconds: number,
  connections = defaultConnections,
): Promise<LoadResult> {
  const isNew = keys === Number.POSITIVE_INFINITY;
  const apiKey = isNew ? `bench-${randomUUID()}-` : 'bench-';
  const script = fileURLToPath(new URL('load.lua', import.meta.url));
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
  const text = toText(message, new URL(url).host, apiKey);
  const count = String(Math.min(keys, Number.MAX_SAFE_INTEGER));
  const args = [...options, url, '--', count, apiKey, expectedBody, text];
  const { stdout } = await promisify(execFile)('wrk', args);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  const result = JSON.parse(last) as LoadResult & { wrong: number; broken: number };
  const { requests, wrong, broken } = result;
  if (wrong + broken > 0 || requests === 0) {
    throw new Error(
      `Expected ${requests} correct responses, but ${wrong} were wrong and ${broken} failed or timed out.`,
    );
  }
  return result;
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
