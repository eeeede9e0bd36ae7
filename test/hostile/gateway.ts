import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { commandPath, commandStart } from '../support/process.ts';

const run = promisify(execFile);

/**
 * The memory limit of a deployment in MiB. Above it, the process is killed, as it would be there.
 */
const memoryLimitMib = 512;
/** The heap limit that Node chooses with that much memory, in MiB. */
const heapMib = 256;

/** A built gateway: that of the test run, or the one that `HOSTILE_GATEWAY` names. */
export interface Built {
  readonly command: string;
  /** Contains `store.db`, a database with two keys. */
  readonly folder: string;
  readonly storeKeys: { readonly honest: string; readonly hostile: string };
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates the folder of a built gateway and its database. */
export async function buildGateway(): Promise<Built> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  const command = process.env['HOSTILE_GATEWAY'] ?? (await commandPath());
  const databaseUrl = `file:${join(folder, 'store.db')}`;
  return {
    command,
    folder,
    storeKeys: {
      honest: await createKey(command, databaseUrl, 'honest'),
      hostile: await createKey(command, databaseUrl, 'hostile'),
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Creates an account with a key in a database. */
async function createKey(command: string, databaseUrl: string, account: string) {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  await run(process.execPath, [command, 'keys', 'create-account', account], { env });
  const { stdout } = await run(process.execPath, [command, 'keys', 'create', account], { env });
  return stdout.split('\n', 1)[0] ?? '';
}

/** Starts a built gateway in production mode with the memory of a deployment. */
export async function startBuilt(command: string, env: Readonly<Record<string, string>>) {
  const started = await commandStart(command, {
    NODE_ENV: 'production',
    NODE_OPTIONS: `--max-old-space-size=${heapMib}`,
    LOG_LEVEL: 'warn',
    ...env,
  });
  if (started.url === '') throw new Error(started.output.stderr);
  let peakMib = 0;
  const readMemory = async () => {
    const status = await readFile(`/proc/${started.pid}/status`, 'utf8').catch(() => '');
    peakMib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakMib * 1024) / 1024;
    if (peakMib > memoryLimitMib) started.kill('SIGKILL');
  };
  const watch = setInterval(readMemory, 50);
  let hasExited = false;
  void started.exited.then(() => {
    hasExited = true;
    clearInterval(watch);
  });
  let used = await readCpuTime(started.pid);
  return {
    url: started.url,
    /**
     * Returns whether the process is alive, its peak resident memory in MiB, and by which factor
     * its work was slowed down by other processes on the CPU.
     */
    async measure() {
      if (!hasExited) {
        await readMemory();
        used = await readCpuTime(started.pid);
      }
      return { isAlive: !hasExited, peakMib, slowdown: (used.ran + used.waited) / used.ran };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(watch);
      await started[Symbol.asyncDispose]();
    },
  };
}

/** Reads how long the main thread ran, and how long it waited for a CPU, in nanoseconds. */
async function readCpuTime(pid: number) {
  const [ran = 1, waited = 0] = (await readFile(`/proc/${pid}/schedstat`, 'utf8'))
    .split(' ')
    .map(Number);
  return { ran, waited };
}
