import { type Dispatcher, errors } from 'undici';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  CancelledError,
  InvalidResponseError,
  type PetStoreError,
} from '../../contract/error.ts';
import { ConnectionFailed } from './connections.ts';

/** What a call counts as in a circuit. */
export type Effect = 'success' | 'failure' | 'none';

/** What follows from an outcome; docs/reliability.md has this table. */
export interface Consequences {
  /** What it counts as in the circuit of the key, and in that of the service. */
  readonly key: Effect;
  readonly service: Effect;
  /** Which calls are sent again: at once, or once after a pause if the limit on retries allows it. */
  readonly repeats: 'none' | 'reads later' | 'reads at once' | 'all at once';
  /** Whether the failure is logged, at `warn`. */
  readonly isLogged: boolean;
  /** Its name in metrics and traces, instead of an HTTP status; it selects the error. */
  readonly label: 'timeout' | 'unavailable' | 'invalid' | 'cancelled';
  readonly message: string;
}

const late = 'The pet store did not respond in time.';
const failing = 'The pet store has failed repeatedly';
const recovers = 'Calls are paused so that it can recover.';
const waiting = 'are waiting for the pet store.';
const closed = 'The pet store closed the connection before';

const base: Consequences = {
  key: 'none',
  service: 'none',
  repeats: 'none',
  isLogged: true,
  label: 'unavailable',
  message: 'The pet store could not be reached.',
};
const responded: Consequences = { ...base, key: 'success', service: 'success', isLogged: false };
const unreachable: Consequences = { ...base, service: 'failure', repeats: 'reads later' };
const broken: Consequences = {
  ...base,
  key: 'failure',
  service: 'failure',
  message: `${closed} it responded.`,
};

/** Why a call was not sent. */
const notSent = {
  noConnection: unreachable,
  connectTimeout: { ...unreachable, label: 'timeout', message: late },
  certificate: { ...unreachable, repeats: 'none' },
  /** undici took the call, but its connection closed before it was written. */
  connectionClosed: { ...base, repeats: 'all at once', message: `${closed} the call was sent.` },
  circuit: { ...base, message: `${failing}. ${recovers}` },
  keyCircuit: { ...base, message: `${failing} for this API key. ${recovers}` },
  queueFull: { ...base, message: `Too many calls ${waiting}` },
  keyQueueFull: { ...base, message: `Too many calls of this API key ${waiting}` },
  deadline: { ...base, label: 'timeout', message: late },
  notConfigured: {
    ...base,
    isLogged: false,
    message: 'Messages cannot be sent, because MESSAGES_BASE_URL is not set.',
  },
} as const satisfies Record<string, Consequences>;

/** How the response to a call that was sent got lost. */
const lost = {
  /** The service closed a connection that had served a call, as it may between two calls. */
  stale: { ...broken, key: 'none', service: 'none', repeats: 'reads at once' },
  reset: { ...broken, repeats: 'reads later' },
  cutOff: { ...broken, message: `${closed} its response was complete.` },
  timeout: { ...broken, label: 'timeout', message: late },
} as const satisfies Record<string, Consequences>;

/** Who ended a call: the client disconnected, or the gateway has no memory for its body. */
const cancelled = {
  client: { ...base, isLogged: false, label: 'cancelled' },
  gateway: { ...base, message: 'The responses of the pet store are too large together.' },
} as const satisfies Record<string, Consequences>;

/** A complete response. The body of an error status may be truncated. */
export interface Responded {
  readonly kind: 'responded';
  readonly status: number;
  readonly headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];
  readonly body: Buffer;
  /** Stops counting the bytes of a large body. Call it when they are no longer used. */
  readonly releaseBody: (() => void) | undefined;
}

/** Why the response of a call is missing or unusable. Times are in milliseconds. */
export type Failed = { readonly cause?: unknown; readonly retryAfterMs?: number } & (
  | { readonly kind: 'notSent'; readonly why: keyof typeof notSent }
  | { readonly kind: 'lost'; readonly how: keyof typeof lost }
  | { readonly kind: 'cancelled'; readonly by: keyof typeof cancelled; readonly wasSent: boolean }
  /** It breaks HTTP or the contract. `status` is undefined if it has no status line. */
  | { readonly kind: 'invalid'; readonly status: number | undefined; readonly problem: string }
);

/**
 * What became of a call to the REST service. It is decided once, where undici reports it or where
 * the gateway refuses to send the call.
 */
export type Outcome = Responded | Failed;

/** Returns what follows from an outcome. */
export function consequencesOf(outcome: Outcome): Consequences {
  switch (outcome.kind) {
    case 'responded':
      return consequencesOfStatus(outcome.status);
    case 'invalid': {
      const { status, problem } = outcome;
      const effects = status === undefined ? base : responded;
      return { ...effects, isLogged: true, label: 'invalid', message: problem };
    }
    case 'cancelled':
      return cancelled[outcome.by];
    case 'notSent':
      return notSent[outcome.why];
    case 'lost':
      return lost[outcome.how];
  }
}

function consequencesOfStatus(status: number): Consequences {
  if (status < 300 || (status >= 400 && status < 500)) return responded;
  if (status < 400) return { ...responded, isLogged: true };
  const repeats = status >= 502 && status <= 504 ? 'reads later' : 'none';
  return { ...responded, key: 'failure', isLogged: true, repeats };
}

/** Returns the HTTP status, or why there is no response, to count what is sent again. */
export function reasonOf(outcome: Outcome): string {
  if (outcome.kind === 'responded') return String(outcome.status);
  return 'why' in outcome ? outcome.why : 'how' in outcome ? outcome.how : outcome.kind;
}

/** Returns whether the service may have received the call. */
export function wasSent(outcome: Outcome): boolean {
  return outcome.kind === 'cancelled' ? outcome.wasSent : outcome.kind !== 'notSent';
}

/**
 * Returns the contract's error for a failed call. Its message is shown to clients, so it contains no
 * address; its `cause` is for the log.
 */
export function toError(outcome: Failed, isWrite: boolean): PetStoreError {
  const { label, message } = consequencesOf(outcome);
  const { cause, retryAfterMs } = outcome;
  if (label === 'cancelled') return new CancelledError();
  const isDone = outcome.kind === 'invalid' && Math.floor((outcome.status ?? 0) / 100) === 2;
  const writeOutcome = isDone ? 'DONE' : wasSent(outcome) ? 'UNKNOWN' : 'NOT_DONE';
  const mayBeDone = isWrite && writeOutcome === 'UNKNOWN';
  const text = mayBeDone ? `${message} The write may have been carried out.` : message;
  return new errorOf[label](text, { cause, writeOutcome, retryAfterMs });
}

const errorOf = {
  timeout: BackendTimeoutError,
  unavailable: BackendUnavailableError,
  invalid: InvalidResponseError,
};

/**
 * Classifies an error of undici or of the connector. `status` is 0 if no headers have arrived;
 * `mayBeStale`: the connection had served another call, and this one was not sent before.
 */
export function outcomeOfFailure(
  cause: Error,
  wasSent: boolean,
  status: number,
  mayBeStale: boolean,
): Failed {
  if (cause instanceof ConnectionFailed) {
    const { certificateSubject, cause: reason } = cause;
    const isTimeout = reason instanceof errors.ConnectTimeoutError;
    const why = certificateSubject ? 'certificate' : isTimeout ? 'connectTimeout' : 'noConnection';
    return { kind: 'notSent', why, cause };
  }
  if (!wasSent) {
    return { kind: 'notSent', why: isReset(cause) ? 'connectionClosed' : 'noConnection', cause };
  }
  const problem = describeInvalidHttp(cause);
  if (problem !== undefined)
    return { kind: 'invalid', status: status || undefined, problem, cause };
  if (cause instanceof errors.HeadersTimeoutError) return { kind: 'lost', how: 'timeout', cause };
  if (status > 0) return { kind: 'lost', how: 'cutOff', cause };
  return { kind: 'lost', how: mayBeStale && isReset(cause) ? 'stale' : 'reset', cause };
}

/** Describes a violation of HTTP or of a size limit; returns undefined for any other error. */
function describeInvalidHttp(error: Error): string | undefined {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'body: expected a smaller body.';
  if (error instanceof errors.HeadersOverflowError) return 'headers: expected smaller headers.';
  if (
    // Not every HTTPParserError carries a `code`, so the class decides.
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    // The status was 100 or 101. Only the message differs from that of a reset.
    (error instanceof errors.SocketError && /^bad (?:upgrade|response)$/.test(error.message))
  ) {
    return 'Expected HTTP, received something else.';
  }
  return undefined;
}

function isReset(error: Error): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return error instanceof errors.SocketError || resets.has(code);
}

/** The system's error codes for a connection that broke after it was established. */
const resets = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
