import { methodNotAllowed } from '../http/error.ts';
import { restErrorResponse } from '../http/error-response.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';

/** Options of `createHealth`. */
export interface HealthOptions {
  /** Rejects with the reason if the backend is not available. */
  readonly checkReady: () => Promise<void>;
  /** Whether the process is shutting down. */
  readonly isDraining: () => boolean;
}

export const probePaths: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Responds to probes of `probePaths`. */
export type Health = (request: HttpRequest) => Promise<HttpResponse>;

/** The timeout of a check of the backend, in milliseconds. */
const checkTimeoutMs = 2000;

/** How long its result is reused, in milliseconds. */
const cacheMs = 1000;

/**
 * Creates the liveness and readiness endpoints. Concurrent probes share one check of the backend.
 */
export function createHealth({ checkReady, isDraining }: HealthOptions): Health {
  let cached: Promise<string | undefined> | undefined;
  const checkBackend = () => {
    cached ??= findProblem(checkReady).finally(() => {
      setTimeout(() => {
        cached = undefined;
      }, cacheMs).unref();
    });
    return cached;
  };

  return async ({ method, path }) => {
    if (method !== 'GET' && method !== 'HEAD') {
      return restErrorResponse(methodNotAllowed('GET, HEAD', method));
    }
    if (path === '/livez') return text(200, 'live');
    if (isDraining()) return text(503, 'not ready: draining');
    const problem = await checkBackend();
    return problem === undefined ? text(200, 'ready') : text(503, `not ready: ${problem}`);
  };
}

function text(status: number, line: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain' }, body: `${line}\n` };
}

/** Returns the reason why the backend is not available; undefined if it is. */
async function findProblem(checkReady: () => Promise<void>): Promise<string | undefined> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const error = new Error('The backend does not respond.');
  const timeout = setTimeout(() => reject(error), checkTimeoutMs);
  try {
    await Promise.race([checkReady(), timedOut]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    clearTimeout(timeout);
  }
}
