import { setTimeout as wait } from 'node:timers/promises';
import type { Metrics } from '../telemetry/metrics.ts';
import { methodNotAllowed, restErrorResponse } from './error.ts';
import type { HttpResponse, RequestHead } from './http-message.ts';
import { oncePer } from './once.ts';

/** The paths of health checks. */
export const probePaths: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Responds to probes of `probePaths`. */
export type Health = (head: RequestHead) => Promise<HttpResponse>;

/** The timeout of a check of the backend, in milliseconds. */
const checkTimeoutMs = 2000;

/** How long its result is reused, in milliseconds. */
const cacheMs = 1000;

/**
 * Creates the liveness and readiness endpoints. Concurrent probes share one check of the backend.
 * @param metrics where the latest check is reported; each scrape starts another one
 */
export function createHealth(
  checkReady: () => Promise<void>,
  isDraining: () => boolean,
  metrics?: Pick<Metrics, 'watchReady'>,
): Health {
  let problem: string | undefined = 'not checked yet';
  const check = oncePer(cacheMs, async () => {
    const timedOut = wait(checkTimeoutMs, undefined, { ref: false }).then(() => {
      throw new Error('The backend does not respond.');
    });
    problem = await Promise.race([checkReady(), timedOut]).then(
      () => undefined,
      ({ message }) => message,
    );
  });
  metrics?.watchReady(() => {
    check();
    return problem === undefined;
  });

  return async ({ method, path }) => {
    if (method !== 'GET' && method !== 'HEAD') {
      return restErrorResponse(methodNotAllowed('GET, HEAD', method));
    }
    if (path === '/livez') return text(200, 'live');
    if (isDraining()) return text(503, 'not ready: draining');
    await check();
    return problem === undefined ? text(200, 'ready') : text(503, `not ready: ${problem}`);
  };
}

function text(status: number, line: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain' }, body: `${line}\n` };
}
