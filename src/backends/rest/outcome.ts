import { type Dispatcher, errors } from 'undici';
import {
  BackendTimeoutError,
  BackendUnavailableError,
  CancelledError,
  InvalidResponseError,
  type PetStoreError,
} from '../../contract/error.ts';
import { isSafe } from '../../contract/operation.ts';
import { serviceName } from '../../contract/service-name.ts';
import type { Effect } from '../../limits/circuit.ts';
import { ConnectionFailed } from './connections.ts';

/** What follows from an outcome; docs/reliability.md has this table. */
export interface Consequences {
  /** What became of the call, as the log shows it. A write that was not sent was not done. */
  readonly kind: 'responded' | 'notSent' | 'lost' | 'cancelled' | 'invalid';
  /** What it counts as in the circuit of the key, and in that of the service. */
  readonly key: Effect;
  readonly service: Effect;
  /**
   * Which calls are sent again: at once, or once after a pause if the limit on retries allows it. A write
   * with an `Idempotency-Key` counts as a read, and PUT and DELETE do (RFC 9110, section 9.2.2).
   */
  readonly repeats: 'none' | 'reads later' | 'reads at once' | 'all at once';
  /** Whether the failure is logged, at `warn`. */
  readonly isLogged: boolean;
  /** Its name in metrics and traces, instead of an HTTP status; it selects the error. */
  readonly label: keyof typeof errorOf | 'cancelled';
  readonly message: string;
}

const late = `The ${serviceName} did not respond in time.`;
const unread = `The response of the ${serviceName} could not be read in time.`;
const failing = `The ${serviceName} has failed repeatedly`;
const recovers = 'Calls are paused so that it can recover.';
const waiting = `are waiting for the ${serviceName}.`;
const unasked = `The ${serviceName} sent 100 (Continue) unasked, which the gateway cannot read.`;
const closed = `The ${serviceName} closed the connection before`;

const notSent: Consequences = {
  kind: 'notSent',
  key: 'none',
  service: 'none',
  repeats: 'none',
  isLogged: true,
  label: 'unavailable',
  message: `The ${serviceName} could not be reached.`,
};
const unreachable: Consequences = { ...notSent, service: 'failure', repeats: 'reads later' };
const lost: Consequences = {
  ...notSent,
  kind: 'lost',
  key: 'failure',
  service: 'failure',
  message: `${closed} it responded.`,
};
const cancelled: Consequences = { ...notSent, kind: 'cancelled' };
const invalid: Consequences = { ...notSent, kind: 'invalid', label: 'invalid' };
const success = { key: 'success', service: 'success' } as const;
const responded: Consequences = { ...notSent, ...success, kind: 'responded', isLogged: false };

/** Why the response of a call is missing or unusable. */
const failures = {
  noConnection: unreachable,
  connectTimeout: { ...unreachable, label: 'timeout', message: late },
  certificate: { ...unreachable, repeats: 'none' },
  /** undici took the call, but its connection closed before it was written. */
  connectionClosed: { ...notSent, repeats: 'all at once', message: `${closed} the call was sent.` },
  circuit: { ...notSent, message: `${failing}. ${recovers}` },
  keyCircuit: { ...notSent, message: `${failing} for this API key. ${recovers}` },
  queueFull: { ...notSent, message: `Too many calls ${waiting}` },
  keyQueueFull: { ...notSent, message: `Too many calls of this API key ${waiting}` },
  deadline: { ...notSent, label: 'timeout', message: late },
  /** The service closed a connection that had served a call, as it may between two calls. */
  stale: { ...lost, key: 'none', service: 'none', repeats: 'reads at once' },
  reset: { ...lost, repeats: 'reads later' },
  cutOff: { ...lost, message: `${closed} its response was complete.` },
  timeout: { ...lost, label: 'timeout', message: late },
  clientLeft: { ...cancelled, isLogged: false, label: 'cancelled' },
  /** The gateway has no memory for the body. */
  noMemory: {
    ...cancelled,
    message: `The responses of the ${serviceName} are too large together.`,
  },
  /** It has arrived, but was not decoded or read before the deadline. */
  unread: { ...cancelled, ...success, label: 'timeout', message: unread },
  /** It breaks the contract or, without a status, HTTP. */
  invalid: { ...invalid, ...success },
  notHttp: invalid,
} as const satisfies Record<string, Consequences>;

/** A complete response. The body of an error status may be truncated. */
export interface Responded {
  readonly why?: undefined;
  readonly status: number;
  readonly headers: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];
  readonly body: Buffer;
}

/** Why the response of a call is missing or unusable. Times are in milliseconds. */
export interface Failed {
  readonly why: keyof typeof failures;
  readonly cause?: unknown;
  readonly retryAfterMs?: number;
  /** The status of a response that is invalid or was not read. */
  readonly status?: number;
  /** What is wrong with an invalid response, instead of the message of its failure. */
  readonly problem?: string;
}

/**
 * What became of a call to the REST service. It is decided once, where undici reports it or where
 * the gateway refuses to send the call.
 */
export type Outcome = Responded | Failed;

/** Returns whether the response has a 2xx status. */
export function isSuccess(outcome: Outcome): outcome is Responded {
  return outcome.why === undefined && outcome.status >= 200 && outcome.status <= 299;
}

/** Returns what follows from an outcome. */
export function consequencesOf({ why, status }: Outcome): Consequences {
  if (why !== undefined) return failures[why];
  if (status < 300 || (status >= 400 && status < 500)) return responded;
  if (status < 400) return { ...responded, isLogged: true };
  const repeats = status >= 502 && status <= 504 ? 'reads later' : 'none';
  return { ...responded, key: 'failure', isLogged: true, repeats };
}

/** Returns what is known after an attempt: only a success adds to a write that may have been carried out. */
export function latest<T extends Outcome>(before: T | undefined, outcome: T, method: string): T {
  if (before === undefined || isSafe(method)) return outcome;
  return isSuccess(outcome) || consequencesOf(before).kind === 'notSent' ? outcome : before;
}

/**
 * Returns the contract's error for a failed call. Its message is shown to clients, so it contains no
 * address; its `cause` is for the log.
 */
export function toError(outcome: Failed): PetStoreError {
  const { kind, label, message } = consequencesOf(outcome);
  const { cause, retryAfterMs, status = 0, problem = message } = outcome;
  if (label === 'cancelled') return new CancelledError();
  const isDone = status >= 200 && status <= 299;
  const writeOutcome = isDone ? 'DONE' : kind === 'notSent' ? 'NOT_DONE' : 'UNKNOWN';
  return new errorOf[label](problem, { cause, writeOutcome, retryAfterMs });
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
  const reason = cause instanceof ConnectionFailed ? cause.cause : cause;
  const { code = '' } = reason as NodeJS.ErrnoException;
  if (refusal.test(code)) return { why: 'certificate', problem: `${refused} (${code}).`, cause };
  if (cause instanceof ConnectionFailed) {
    if (reason instanceof errors.ConnectTimeoutError) return { why: 'connectTimeout', cause };
    return { why: rejectedCertificate.test(code) ? 'certificate' : 'noConnection', cause };
  }
  if (!wasSent) {
    return { why: isReset(cause) ? 'connectionClosed' : 'noConnection', cause };
  }
  // The status was 100, or 101. Only the message differs from that of a reset.
  const stray = cause instanceof errors.SocketError && cause.message;
  const violation = violations.find(([type]) => cause instanceof type)?.[1];
  // HTTP allows 100 (RFC 9110, section 15.2), but undici does not.
  const problem = { 'bad response': unasked, 'bad upgrade': notHttp }[stray || ''] ?? violation;
  if (problem !== undefined) return { why: status ? 'invalid' : 'notHttp', status, problem, cause };
  if (cause instanceof errors.HeadersTimeoutError) return { why: 'timeout', cause };
  if (status > 0) return { why: 'cutOff', cause };
  return { why: mayBeStale && isReset(cause) ? 'stale' : 'reset', cause };
}

/** The error codes of rejected certificates in the documentation of `node:tls`, and that of all other reasons. */
const rejectedCertificate =
  /^(?:ERR_TLS_CERT_|UNABLE_TO_|(?:ERROR_IN_)?(?:CERT|CRL)_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH|UNSPECIFIED)/;

/** The alerts that refuse a client certificate or its absence. No request is read before them. */
const refusal = /^ERR_SSL_.*_ALERT_(?:.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;
const refused = `The ${serviceName} refused the client certificate`;

const notHttp = 'Expected HTTP, received something else.';

/** Violations of HTTP and of size limits. Not every HTTPParserError has a code, so classes decide. */
const violations = [
  [errors.ResponseExceededMaxSizeError, 'body: expected a smaller body.'],
  [errors.HeadersOverflowError, 'headers: expected smaller headers.'],
  [errors.HTTPParserError, notHttp],
  [errors.ResponseContentLengthMismatchError, notHttp],
] as const;

function isReset(error: Error): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return error instanceof errors.SocketError || resets.has(code);
}

/** The system's error codes for a connection that broke after it was established. */
const resets = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
