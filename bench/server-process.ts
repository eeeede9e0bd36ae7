import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cores, startCpuClock } from './cores.ts';
import type { Command } from './stacks.ts';

/** A server in its own process, on the core of the servers. */
export interface ServerProcess extends AsyncDisposable {
  hasExited(): boolean;
  /** Starts to measure CPU time. @returns a function that reads it, in microseconds. */
  startCpuClock(): () => number;
  /** The resident memory. */
  memoryBytes(): number;
  /** The last 2000 characters of the output. */
  lastOutput(): string;
  /** Truncates the file that receives the output. */
  clearLog(): void;
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
  const pid = child.pid ?? 0;

  return {
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    startCpuClock: () => startCpuClock(pid),
    memoryBytes() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
    },
    lastOutput: () => readFileSync(logFile, 'utf8').slice(-2000),
    clearLog: () => ftruncateSync(log),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      closeSync(log);
    },
  };
}
