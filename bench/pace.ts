/** Repeats measurements during which the machine ran slowly. */
export interface PaceMonitor {
  /**
   * Runs a measurement; repeats it up to twice while the machine ran slowly during it.
   * @returns the last result, and the share of its time in which the machine ran slowly, 0 to 1.
   */
  measure<T>(task: () => Promise<T>): Promise<{ readonly result: T; readonly slowShare: number }>;
}

/** The highest share of slow probes that is accepted: one in a round of two seconds. */
export const acceptedShare = 0.04;

const intervalMs = 50;
/** Small, because on some hosts half of the rounds would be repeated. */
const maxRepetitions = 2;

/**
 * Some hosts run a virtual machine five times slower for a few seconds, which the machine's own CPU
 * times do not show. The other changes seen there stay below this factor.
 */
const slowFactor = 1.5;

/**
 * Times a short loop every 50 ms, which uses 1 % of the load's core, and compares it with the
 * fastest so far.
 */
export function monitorPace(reportRepetition: () => void, probe = timeLoop): PaceMonitor {
  let fastest = Number.POSITIVE_INFINITY;
  let probes = 0;
  let slow = 0;
  setInterval(() => {
    const time = Math.min(probe(), probe(), probe());
    fastest = Math.min(fastest, time);
    probes++;
    if (time > fastest * slowFactor) slow++;
  }, intervalMs).unref();

  return {
    async measure(task) {
      for (let repetition = 0; ; repetition++) {
        probes = 0;
        slow = 0;
        const result = await task();
        const slowShare = slow / Math.max(1, probes);
        if (slowShare <= acceptedShare || repetition === maxRepetitions) {
          return { result, slowShare };
        }
        reportRepetition();
      }
    },
  };
}

/** Times arithmetic in registers, in milliseconds: the state of the caches does not matter. */
function timeLoop(): number {
  const start = performance.now();
  let sum = lastSum;
  for (let index = 0; index < 100_000; index++) sum = (Math.imul(sum, 31) + index) | 0;
  lastSum = sum;
  return performance.now() - start;
}

/** Declared here, so that V8 does not remove the loop. */
let lastSum = 0;
