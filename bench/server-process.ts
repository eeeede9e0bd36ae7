import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cores, readCpuMs } from './cores.ts';
import type { Command } from './stacks.ts';

/** A server in its own process, alone on its core. */
export interface ServerProcess extends AsyncDisposable {
  hasExited(): boolean;
  /** The CPU time used so far, in milliseconds, with a resolution of 10 ms. */
  cpuMs(): number;
  /** The resident memory. */
  memoryBytes(): number;
  /** The peak resident memory. */
  peakMemoryBytes(): number;
  /** The last 2000 characters of the output. */
  lastOutput(): string;
  /** Truncates the file that receives the output. */
  clearLog(): void;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<void>;
}

/** Starts a server in production mode. Its output goes to a file in this folder. */
export function spawnServer(
  { argv, env }: Command,
  folder: string,
  onCores = String(cores.server),
): ServerProcess {
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'a');
  // The kernel kills the server when this process ends, however it ends.
  const prefix = ['-c', onCores, 'setpriv', '--pdeathsig', 'KILL'];
  const child = spawn('taskset', [...prefix, ...argv], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, NODE_ENV: 'production', ...env },
    stdio: ['ignore', log, log],
  });
  const exited = once(child, 'exit');
  const read = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');

  return {
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    cpuMs: () => readCpuMs(child.pid ?? 'self').own,
    memoryBytes: () => Number(/VmRSS:\s+(\d+)/.exec(read('status'))?.[1]) * 1024,
    peakMemoryBytes: () => Number(/VmHWM:\s+(\d+)/.exec(read('status'))?.[1]) * 1024,
    lastOutput: () => readFileSync(logFile, 'utf8').slice(-2000),
    clearLog: () => ftruncateSync(log),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      closeSync(log);
    },
  };
}
