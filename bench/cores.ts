import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The core of the measured server, and the core that the REST service and the load share. */
export const cores = { server: 0, load: 1 } as const;

/**
 * Pins this process, and every process that it starts later, to the load's core.
 * @throws when the machine does not run Linux or has fewer than two cores.
 */
export function moveToLoadCore(): void {
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new Error(
      `Expected Linux with at least two cores, found ${process.platform} with ${availableParallelism()}.`,
    );
  }
  execFileSync('taskset', ['-acp', String(cores.load), String(process.pid)], { stdio: 'pipe' });
}

/** The total CPU time of all programs on the two cores since boot, in milliseconds. */
export function readBusyMs(): number {
  const stat = readFileSync('/proc/stat', 'utf8');
  const times = Object.values(cores).map((core) => {
    const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(stat)?.[1] ?? '';
    const [user = 0, nice = 0, system = 0] = line.split(' ').map(Number);
    return user + nice + system;
  });
  return times.reduce((sum, time) => sum + time, 0) * tickMs;
}

/** The CPU time of a process and of its exited children, in milliseconds. */
export function readCpuMs(pid: number | 'self'): { own: number; children: number } {
  // Skip the process name, which can contain any character. User and system time are separate.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [own = 0, ownSystem = 0, children = 0, childrenSystem = 0] = fields.slice(11).map(Number);
  return { own: (own + ownSystem) * tickMs, children: (children + childrenSystem) * tickMs };
}

/** The unit of CPU times in Linux's /proc (USER_HZ). */
const tickMs = 10;
