import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The core of the measured servers, and the core that the REST service and the load share. */
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

/**
 * Starts to measure the CPU time of a process, without threads that end meanwhile.
 * @returns a function that reads it, in microseconds.
 */
export function startCpuClock(pid: number): () => number {
  const before = readThreadTimes(pid);
  return () => {
    let nanoseconds = 0;
    for (const [thread, time] of readThreadTimes(pid)) {
      nanoseconds += time - (before.get(thread) ?? 0);
    }
    return nanoseconds / 1000;
  };
}

/** The CPU time of each thread in nanoseconds: `stat` counts ticks of 10 ms, `schedstat` does not. */
function readThreadTimes(pid: number): ReadonlyMap<string, number> {
  const folder = `/proc/${pid}/task`;
  const times = new Map<string, number>();
  for (const thread of readdirSync(folder)) {
    try {
      const [time] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ');
      times.set(thread, Number(time));
    } catch {
      // The thread has ended since the folder was read.
    }
  }
  return times;
}
