import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The core of the server that is measured, and the one of the REST service and the load. */
export const cores = { server: 0, load: 1 } as const;

/**
 * Moves this process and all that it starts from now on to the load's core.
 * @throws when the machine can't be divided like this.
 */
export function moveToLoadCore(): void {
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new Error(
      `Expected Linux with two cores or more, found ${process.platform} with ${availableParallelism()}.`,
    );
  }
  execFileSync('taskset', ['-acp', String(cores.load), String(process.pid)], { stdio: 'pipe' });
}

/** How long programs have been running on the two cores since the machine was started, in milliseconds. */
export function readBusyMs(): number {
  const stat = readFileSync('/proc/stat', 'utf8');
  const times = Object.values(cores).map((core) => {
    const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(stat)?.[1] ?? '';
    const [user = 0, nice = 0, system = 0] = line.split(' ').map(Number);
    return user + nice + system;
  });
  return times.reduce((sum, time) => sum + time, 0) * tickMs;
}

/** The processor time of a process, in milliseconds, and that of its children that have ended. */
export function readCpuMs(pid: number | 'self'): { own: number; children: number } {
  // After the name, which may hold anything; user and system time each.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [own = 0, ownSystem = 0, children = 0, childrenSystem = 0] = fields.slice(11).map(Number);
  return { own: (own + ownSystem) * tickMs, children: (children + childrenSystem) * tickMs };
}

/** The unit of times in /proc on Linux (USER_HZ). */
const tickMs = 10;
