import type { Caller } from '../../contract/caller.ts';
import { lateError } from '../../contract/deadline.ts';
import {
  BackendUnavailableError,
  ErrorResponse,
  InvalidResponseError,
} from '../../contract/error.ts';
import { serviceName } from '../../contract/service-name.ts';

/** An API key of a demo with which calls behave in one way, so that clients can show it. */
export interface DemoKey {
  readonly title: string;
  /** How long a call takes, given the time limit of calls. Both are in milliseconds. */
  readonly waitMs?: (timeoutMs: number) => number;
  /** Creates the error of a call, as the REST backend has it for a service that fails so. */
  readonly error?: (isWrite: boolean) => Error | undefined;
  /** Whether only the first call of every second request fails. */
  readonly isFlaky?: true;
  /** The id of the operation that behaves so, if the others succeed at once. */
  readonly only?: string;
  /** Whether a call that fails is carried out. */
  readonly isDone?: true;
  /** Whether reads find nothing. */
  readonly isEmpty?: true;
}

/** The service responds with this status and an Error body. */
function refused(code: string, status: number, message: string, retryAfterMs?: number): DemoKey {
  const body = { code: `demo_${code.toLowerCase()}`, message, status };
  const error = () => new ErrorResponse(status, message, { body, retryAfterMs });
  return { title: `${code}: HTTP ${status}`, error };
}

const closed = () =>
  new BackendUnavailableError(`The ${serviceName} closed the connection before it responded.`, {
    isStaged: true,
  });

const invalid = () =>
  new InvalidResponseError('body: expected JSON, received other text.', {
    writeOutcome: 'DONE',
    isStaged: true,
  });

/** The demo keys with a behaviour of their own; `own` are those of the contract. */
export const createDemoKeys = (own: Readonly<Record<string, DemoKey>>) =>
  new Map<string, DemoKey>(
    Object.entries({
      'demo-unauthenticated': refused('UNAUTHENTICATED', 401, 'The API key is unknown.'),
      'demo-forbidden': refused('FORBIDDEN', 403, 'The API key may not do this.'),
      'demo-not-found': refused('NOT_FOUND', 404, 'There is no such record.'),
      'demo-conflict': refused('CONFLICT', 409, 'The record has changed.'),
      'demo-rate-limited': refused('RATE_LIMITED', 429, 'Too many requests.', 2000),
      ...own,
      'demo-timeout': { title: 'UPSTREAM_TIMEOUT', waitMs: (limit) => limit, error: lateError },
      'demo-unavailable': { title: 'UPSTREAM_UNAVAILABLE', error: closed },
      'demo-error': refused('UPSTREAM_ERROR', 500, `The ${serviceName} returned HTTP status 500.`),
      'demo-invalid': { title: 'UPSTREAM_INVALID_RESPONSE', error: invalid, isDone: true },
      'demo-flaky': {
        title: 'UPSTREAM_UNAVAILABLE in every second request, first field',
        error: closed,
        isFlaky: true,
      },
      'demo-lost-write': {
        title: 'Writes are done, but the response is lost: outcome UNKNOWN',
        error: (isWrite) => (isWrite ? closed() : undefined),
        isDone: true,
      },
    } satisfies Readonly<Record<string, DemoKey>>),
  );

/**
 * Returns a function that makes a call as its demo key has it; `work` carries it out. A write that is not
 * done again succeeds. `timeoutMs` is the time limit of calls, in milliseconds.
 */
export function createStaging(timeoutMs: number) {
  const requests = new WeakSet<Caller>();
  const counts = new Map<string, number>();

  /** Whether a flaky call fails: the first of every second request that begins with this operation. */
  function isFlakinessDue(caller: Caller, operation: string): boolean {
    if (requests.has(caller)) return false;
    requests.add(caller);
    const count = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, count);
    return count % 2 === 0;
  }

  return async <T>(
    { waitMs, error, isFlaky, isDone, only }: DemoKey,
    caller: Caller,
    operation: string,
    isWrite: boolean,
    work: () => Promise<T>,
  ): Promise<T> => {
    if (only !== undefined && only !== operation) return work();
    const isDue = !isFlaky || isFlakinessDue(caller, operation);
    if (waitMs) await pause(caller, waitMs(timeoutMs));
    const failure = isDue ? error?.(isWrite) : undefined;
    if (failure && !isDone) throw failure;
    const result = await work();
    if (failure && !caller.isReplayed) throw failure;
    return result;
  };
}

/** Waits. Rejects when the caller leaves or its deadline passes, as a call to another service does. */
function pause(caller: Caller, ms: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  caller.whenCancelled(() => reject(caller.cancelled));
  return promise.finally(() => clearTimeout(timer));
}
