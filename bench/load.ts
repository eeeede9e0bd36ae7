import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { peers } from './stacks.ts';
import type { Workload } from './workloads.ts';

/** What a server is asked, and for how long. */
export interface Load {
  readonly url: string;
  readonly body: string;
  /** The text that every response must equal. */
  readonly answer: string;
  readonly keys: Workload['keys'];
  /** The API key, or how each one begins. */
  readonly apiKey: string;
  readonly seconds: number;
}

/** What came of a load. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** How many connections the load keeps busy. */
export const connections = 64;

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
    run: (load) => run(process.execPath, [script, JSON.stringify({ ...load, connections })]),
  };
}

function wrkVersion(): string | undefined {
  const { error, stdout } = spawnSync('wrk', ['--version'], { encoding: 'utf8' });
  return error ? undefined : /^wrk \S+/.exec(stdout)?.[0];
}

function wrkArguments({ url, body, answer, apiKey, keys, seconds }: Load): string[] {
  const script = fileURLToPath(new URL('load.lua', import.meta.url));
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
  return [...options, url, '--', body, answer, apiKey, keys];
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
