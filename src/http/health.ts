import { setTimeout as wait } from 'node:timers/promises';
import { methodNotAllowed } from './error.ts';
import { restErrorResponse } from './error-response.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { oncePer } from './once.ts';

/** The paths of health checks. */
export const probePaths: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Responds to probes of `probePaths`. */
export type Health = (request: HttpRequest) => Promise<HttpResponse>;

/** The timeout of a check of the backend, in milliseconds. */
const checkTimeoutMs = 2000;

/** How long its result is reused, in milliseconds. */
const cacheMs = 1000;

/**
 * Creates the liveness and readiness endpoints. Concurrent probes share one check of the backend.
 * @param checkReady rejects with the reason if the backend is not available
 * @param isDraining whether the process is shutting down
 */
export function createHealth(checkReady: () => Promise<void>, isDraining: () => boolean): Health {
  const check = oncePer(cacheMs, () =>
    Promise.race([
      checkReady(),
      wait(checkTimeoutMs, undefined, { ref: false }).then(() => {
        throw new Error('The backend does not respond.');
      }),
    ]).then(
      (): [number, string] => [200, 'ready'],
      ({ message }): [number, string] => [503, `not ready: ${message}`],
    ),
  );

  return async ({ method, path }) => {
    if (method !== 'GET' && method !== 'HEAD') {
      return restErrorResponse(methodNotAllowed('GET, HEAD', method));
    }
    if (path === '/livez') return text(200, 'live');
    if (isDraining()) return text(503, 'not ready: draining');
    return text(...(await check()));
  };
}

function text(status: number, line: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain' }, body: `${line}\n` };
}
