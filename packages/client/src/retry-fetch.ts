import { type Attempt, type RetryOptions, retryDelay } from './retry.ts';

/** Options of `createRetryFetch`. */
export interface RetryFetchOptions extends RetryOptions {
  /**
   * The time for an operation, its attempts and delays together, in milliseconds. The gateway ends its
   * calls then, and the fields that are late fail with `UPSTREAM_TIMEOUT`. At most its `UPSTREAM_TIMEOUT_MS`.
   */
  readonly timeoutMs?: number;
}

/**
 * Wraps `fetch` so that failed GraphQL requests are repeated as `retryDelay` says. Of bodies, it
 * repeats texts only; a body without a query in it counts as a mutation. Responses in parts are
 * passed on as they arrive.
 */
export function createRetryFetch(
  options?: RetryFetchOptions,
  send: typeof fetch = globalThis.fetch,
): typeof fetch {
  return async (input, init) => {
    const kind = kindOf(input, init);
    const deadlineAt = performance.now() + (options?.timeoutMs ?? Number.POSITIVE_INFINITY);
    if (kind === undefined) return send(input, withTimeout(input, init, deadlineAt));
    const signal = init?.signal ?? (input as Partial<Request>).signal;
    for (let attempt = 1; ; attempt++) {
      const sent = send(input, withTimeout(input, init, deadlineAt));
      const delayMs = retryDelay({ kind, attempt, signal, ...(await read(sent)) }, options);
      if (delayMs === undefined || performance.now() + delayMs >= deadlineAt) return sent;
      await sent.then(({ body }) => body?.cancel()).catch(() => {});
      await wait(delayMs, signal);
      if (signal?.aborted) throw signal.reason;
    }
  };
}

/** Adds the header with the time that is left, if there is a deadline. */
function withTimeout(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  deadlineAt: number,
): RequestInit | undefined {
  if (deadlineAt === Number.POSITIVE_INFINITY) return init;
  const headers = new Headers(init?.headers ?? (input as Partial<Request>).headers);
  const leftMs = Math.max(1, Math.ceil(deadlineAt - performance.now()));
  headers.set('x-petstore-timeout-ms', String(leftMs));
  return { ...init, headers };
}

/** Returns the kind of the operation, or undefined for a body that cannot be sent again. */
function kindOf(...[input, init]: Parameters<typeof fetch>): Attempt['kind'] | undefined {
  const { method = (input as Partial<Request>).method ?? 'GET', body } = init ?? {};
  // The gateway refuses mutations by GET.
  if (/^get$/i.test(method)) return 'query';
  if (typeof body !== 'string') return undefined;
  try {
    const { query } = JSON.parse(body);
    // The gateway ignores an empty text, and executes the hash beside it.
    return typeof query === 'string' && query !== '' && !query.includes('mutation')
      ? 'query'
      : 'mutation';
  } catch {
    return 'mutation';
  }
}

/** Reads a copy of the response, unless it is in parts. */
async function read(sent: Promise<Response>): Promise<Partial<Attempt>> {
  try {
    const response = await sent;
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const body = isJson ? await response.clone().json() : undefined;
    return body?.data || body?.errors ? { response: body } : { status: response.status };
  } catch (networkError) {
    return { networkError };
  }
}

function wait(delayMs: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(stop, delayMs);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
  });
}
