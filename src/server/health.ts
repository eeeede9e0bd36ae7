import { problem, text } from './answers.ts';

/** Whether the process lives, and whether it wants requests. */
export interface HealthOptions {
  /** Rejects with the reason when the backend can't be expected to answer. */
  readonly checkReady: () => Promise<void>;
  /** Whether the process is on its way out. */
  readonly isDraining: () => boolean;
}

/** Answers `/livez` and `/readyz`, exact paths only; undefined for any other. */
export type Health = (request: Request, path: string) => Promise<Response> | undefined;

/** How long a check may take, and how long its verdict holds, in milliseconds. */
const times = { check: 2000, verdict: 1000 };

/** Health as orchestrators ask for it. Probes that come together share one look at the backend. */
export function createHealth({ checkReady, isDraining }: HealthOptions): Health {
  let verdict: Promise<string | undefined> | undefined;
  const lookAtBackend = () => {
    verdict ??= whyNotReady(checkReady).finally(() => {
      setTimeout(() => {
        verdict = undefined;
      }, times.verdict).unref();
    });
    return verdict;
  };

  return (request, path) => {
    if (path !== '/livez' && path !== '/readyz') return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return Promise.resolve(problem(405, `Expected GET, received ${request.method}.`));
    }
    if (path === '/livez') return Promise.resolve(text(200, 'live'));
    if (isDraining()) return Promise.resolve(text(503, 'not ready: draining'));
    return lookAtBackend().then((reason) =>
      reason === undefined ? text(200, 'ready') : text(503, `not ready: ${reason}`),
    );
  };
}

async function whyNotReady(checkReady: () => Promise<void>): Promise<string | undefined> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timeout = setTimeout(() => reject(new Error('The backend does not answer.')), times.check);
  try {
    await Promise.race([checkReady(), late]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    clearTimeout(timeout);
  }
}
