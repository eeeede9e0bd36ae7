import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cores, readCpuMs } from './cores.ts';
import type { Command } from './stacks.ts';

/** A server in a process of its own, alone on its core. */
export interface ServerProcess extends AsyncDisposable {
  hasEnded(): boolean;
  /** The time that it has used on its core so far, in milliseconds; steps of 10 ms. */
  cpuMs(): number;
  /** The memory that it holds. */
  memoryBytes(): number;
  /** The most memory that it has held at once. */
  peakMemoryBytes(): number;
  /** The end of what it has written to its output. */
  lastWords(): string;
  /** Empties the file that its output goes to. */
  clearLog(): void;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

/** Starts a server in production mode; what it writes goes to a file in this folder. */
export function spawnServer(
  { argv, env }: Command,
  folder: string,
  onCores = String(cores.server),
): ServerProcess {
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'a');
  // Dies with this process, whatever ends it.
  const prefix = ['-c', onCores, 'setpriv', '--pdeathsig', 'KILL'];
  const child = spawn('taskset', [...prefix, ...argv], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, NODE_ENV: 'production', ...env },
    stdio: ['ignore', log, log],
  });
  const exited = once(child, 'exit');
  const read = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');

  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    cpuMs: () => readCpuMs(child.pid ?? 'self').own,
    memoryBytes: () => Number(/VmRSS:\s+(\d+)/.exec(read('status'))?.[1]) * 1024,
    peakMemoryBytes: () => Number(/VmHWM:\s+(\d+)/.exec(read('status'))?.[1]) * 1024,
    lastWords: () => readFileSync(logFile, 'utf8').slice(-2000),
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
