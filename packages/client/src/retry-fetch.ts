import { createIdempotencyKey } from './idempotency-key.ts';
import { type Attempt, isRefused, type RetryOptions, retryDelay } from './retry.ts';

/** Options of `createRetryFetch`. */
export interface RetryFetchOptions extends RetryOptions {
  /**
   * The time for an operation, its attempts and delays together, in milliseconds. The gateway ends its
   * calls then, and the fields that are late fail with `UPSTREAM_TIMEOUT`; each attempt has at most the gateway's
   * `UPSTREAM_TIMEOUT_MS`.
   * If there is no response a second later, or JSON, parts or an error are not complete, it rejects with
   * a `TimeoutError`. The response to a body that is not text only has to begin.
   */
  readonly timeoutMs?: number;
}

/** How long after the deadline the gateway's own errors are waited for, in milliseconds. */
const marginMs = 1000;

/**
 * Wraps `fetch` so that failed GraphQL requests are repeated as `retryDelay` says. A mutation gets an
 * `Idempotency-Key`, unless it has one. Of bodies, it repeats texts and the JSON of a `Request`; one without a
 * query in it counts as a mutation. Responses in parts are passed on as they arrive.
 */
export function createRetryFetch(
  options?: RetryFetchOptions,
  send: typeof fetch = globalThis.fetch,
): typeof fetch {
  return async (input, caller) => {
    const given = await withText(input, caller);
    const kind = kindOf(input, given);
    const init = kind === 'mutation' ? withKey(input, given) : given;
    const deadlineAt = performance.now() + (options?.timeoutMs ?? Number.POSITIVE_INFINITY);
    const signal = init?.signal ?? (input as Partial<Request>).signal;
    /** The last attempt that was not refused: a later refusal does not say what became of it. */
    let last: Promise<Response> | undefined;
    for (let attempt = 1; ; attempt++) {
      const { timed, end } = withTimeout(input, init, deadlineAt, signal);
      const sent = send(input, timed);
      if (kind === undefined) return sent.finally(end);
      const ended = await read(sent, end);
      if (kind === 'query' || !isRefused(ended.response)) last = sent;
      const delayMs = retryDelay(
        { kind, hasIdempotencyKey: true, attempt, signal, ...ended },
        options,
      );
      if (delayMs === undefined || performance.now() + delayMs >= deadlineAt) return last ?? sent;
      await wait(delayMs, signal);
      if (signal?.aborted) throw signal.reason;
    }
  };
}

/** Reads the JSON of a `Request`, whose stream could not be sent again. */
async function withText(...[input, init]: Parameters<typeof fetch>) {
  const { headers, method = 'GET' } = input as Partial<Request>;
  const isJson = /json/.test(headers?.get('content-type') ?? '') && !/^(?:get|head)$/i.test(method);
  if (!isJson || init?.body !== undefined) return init;
  return { ...init, body: await (input as Request).clone().text() };
}

/** Adds an `Idempotency-Key` to a mutation, unless it has one. */
function withKey(...[input, init]: Parameters<typeof fetch>): RequestInit {
  const headers = new Headers(init?.headers ?? (input as Partial<Request>).headers);
  if (!headers.has('idempotency-key')) headers.set('idempotency-key', createIdempotencyKey());
  return { ...init, headers };
}

/**
 * Adds the header with the time that is left, if there is a deadline, and a signal for the caller's and
 * for the deadline. `end` ends the wait for both.
 */
function withTimeout(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  deadlineAt: number,
  signal: AbortSignal | null | undefined,
): { readonly timed: RequestInit | undefined; readonly end: () => void } {
  if (deadlineAt === Number.POSITIVE_INFINITY) return { timed: init, end: () => {} };
  const headers = new Headers(init?.headers ?? (input as Partial<Request>).headers);
  const leftMs = Math.max(1, Math.ceil(deadlineAt - performance.now()));
  headers.set('x-petstore-timeout-ms', String(leftMs));
  // React Native has neither AbortSignal.timeout nor AbortSignal.any.
  const controller = new AbortController();
  const leave = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => {
    end();
    controller.abort(lateError());
  }, leftMs + marginMs);
  // In Node, it does not keep the process alive: nobody calls `end` after a body in parts.
  if (typeof timer === 'object') (timer as { unref(): void }).unref();
  signal?.addEventListener('abort', leave);
  if (signal?.aborted) leave();
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  };
  return { timed: { ...init, headers, signal: controller.signal }, end };
}

/** Creates the error of `AbortSignal.timeout`, after which nothing is repeated. */
function lateError(): Error {
  const message = 'The gateway did not respond in time. A write may have been carried out.';
  return Object.assign(new Error(message), { name: 'TimeoutError' });
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

/**
 * Reads a copy of a response that is JSON, or may be repeated: an unread body would hold its connection.
 * Calls `end` for every response that is not in parts.
 */
async function read(sent: Promise<Response>, end: () => void): Promise<Partial<Attempt>> {
  try {
    const response = await sent;
    const type = response.headers.get('content-type') ?? '';
    const isJson = /json/.test(type);
    const text = isJson || !response.ok ? await response.clone().text() : '';
    if (!/^multipart|event-stream/.test(type)) end();
    const body = isJson ? JSON.parse(text) : undefined;
    return body?.data || body?.errors ? { response: body } : { status: response.status };
  } catch (networkError) {
    end();
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
