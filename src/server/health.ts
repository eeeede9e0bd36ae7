import { methodNotAllowed } from '../http/error.ts';
import { restErrorResponse } from '../http/error-response.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';

/** Whether the process lives, and whether it wants requests. */
export interface HealthOptions {
  /** Rejects with the reason when the backend can't be expected to answer. */
  readonly checkReady: () => Promise<void>;
  /** Whether the process is on its way out. */
  readonly isDraining: () => boolean;
}

/** Answers `/livez` and `/readyz`, exact paths only; undefined for any other. */
export type Health = (request: HttpRequest) => Promise<HttpResponse> | undefined;

/** How long a check may take, and how long its verdict holds, in milliseconds. */
const times = { check: 2000, verdict: 1000 };

/** Health as orchestrators ask for it. Probes that come together share one check of the backend. */
export function createHealth({ checkReady, isDraining }: HealthOptions): Health {
  let verdict: Promise<string | undefined> | undefined;
  const checkBackend = () => {
    verdict ??= whyNotReady(checkReady).finally(() => {
      setTimeout(() => {
        verdict = undefined;
      }, times.verdict).unref();
    });
    return verdict;
  };

  async function answer({ method, path }: HttpRequest): Promise<HttpResponse> {
    if (method !== 'GET' && method !== 'HEAD') {
      return restErrorResponse(methodNotAllowed('GET, HEAD', method));
    }
    if (path === '/livez') return text(200, 'live');
    if (isDraining()) return text(503, 'not ready: draining');
    const reason = await checkBackend();
    return reason === undefined ? text(200, 'ready') : text(503, `not ready: ${reason}`);
  }

  return (request) => {
    const { path } = request;
    return path === '/livez' || path === '/readyz' ? answer(request) : undefined;
  };
}

function text(status: number, line: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain' }, body: `${line}\n` };
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
