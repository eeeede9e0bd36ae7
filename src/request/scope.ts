import { randomUUID } from 'node:crypto';
import type { Caller, CallerIdentity, ServiceCall } from '../contract/caller.ts';
import { BackendTimeoutError, CancelledError } from '../contract/error.ts';
import { serviceName } from '../contract/service-name.ts';
import type { BodyParts, RequestHead } from '../http/http-message.ts';
import { createReportError, type ReportError } from '../http/refusal.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { ApiKeys } from '../keys/api-keys.ts';
import type { Limit } from '../limits/limit.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { RequestTrace } from '../telemetry/trace.ts';

/** What all requests of a process share. */
export interface RequestEnvironment {
  readonly telemetry: Telemetry;
  readonly reportError: ReportError;
  /** The API keys in use. */
  readonly keys: ApiKeys;
  /** Limits the bytes of request bodies, each until its request ends. */
  readonly bodyBytes: Limit;
  /** The bodies in parts whose requests have not ended. */
  readonly streams: Set<BodyParts>;
}

const MiB = 1024 * 1024;

/** Creates what the requests of a process share. */
export function createEnvironment(telemetry: Telemetry, keys = new ApiKeys()): RequestEnvironment {
  const limits = { total: 32 * MiB, perKey: 8 * MiB, unaccepted: 16 * MiB };
  const bodyBytes = keys.openLimit('body_bytes', limits);
  telemetry.metrics.watchLimit(bodyBytes);
  const reportError = createReportError(telemetry);
  return { telemetry, reportError, keys, bodyBytes, streams: new Set() };
}

type Held = Parameters<Caller['hold']>[0];

const deadlinePassed = `The ${serviceName} did not respond before the request's deadline.`;

/**
 * The life of a request: who makes its calls, what it holds, and when it ends. Its client may leave, and
 * its deadline pass, before; `end` releases everything that it holds.
 */
export class Scope implements Caller {
  readonly key: ApiKey;
  readonly authorization: string | undefined;
  readonly requestId: string;
  readonly trace: RequestTrace | undefined;
  /** As a `performance.now()` timestamp. */
  readonly startedAt = performance.now();
  readonly calls: ServiceCall[] = [];
  forwarded: Caller['forwarded'];
  idempotencyKey: string | undefined;
  isReplayed = false;
  identity: CallerIdentity | undefined;
  /** Whether a field needed the caller's key. The errors then show whether it was accepted. */
  usedKey = false;
  cancelled: Error | undefined;
  deadlineAt = Number.POSITIVE_INFINITY;
  /** Whether nobody waits for the response. */
  hasLeft = false;
  /** Called when its client has left. */
  onLeave: (() => void) | undefined;
  #unfollow: (() => void) | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #whenCancelled: (() => void)[] | undefined;
  readonly #held: Held[] = [];
  readonly #amounts: number[] = [];
  #workGoingOn = 0;
  #isEnded = true;

  constructor(
    { keys, telemetry: { tracing } }: Pick<RequestEnvironment, 'keys' | 'telemetry'>,
    head: RequestHead,
  ) {
    const { authorization, traceparent, 'x-request-id': requestId } = head.headers;
    this.key = keys.find(authorization);
    this.authorization = authorization;
    const isValid = requestId !== undefined && /^[\w.:-]{1,64}$/.test(requestId);
    this.requestId = isValid ? requestId : randomUUID();
    const isTraced = tracing.isRecording || traceparent !== undefined;
    this.trace = isTraced ? tracing.startRequest(head) : undefined;
    this.begin();
  }

  /** Begins it, or begins it again after `end`, in between which it makes calls but holds nothing. */
  begin(): void {
    if (!this.#isEnded) return;
    this.#isEnded = false;
    this.key.requests++;
    if (this.deadlineAt < Number.POSITIVE_INFINITY)
      this.setDeadline(this.deadlineAt - this.startedAt);
  }

  hold(limit: Held, amount: number): void {
    if (this.#isEnded) {
      limit.release(this.key, amount);
      return;
    }
    const last = this.#held.length - 1;
    // A body takes memory with each of its chunks.
    if (this.#held[last] === limit) (this.#amounts[last] as number) += amount;
    else {
      this.#held.push(limit);
      this.#amounts.push(amount);
    }
  }

  holdUntil(work: Promise<unknown>): void {
    this.#workGoingOn++;
    const end = () => {
      this.#workGoingOn--;
      if (this.#isEnded) this.#releaseHeld();
    };
    work.then(end, end);
  }

  /** Ends its calls: its client has left, or its deadline has passed. Writes that were sent go on. */
  cancel(reason: 'client' | 'deadline' = 'client'): void {
    if (this.#isEnded) return;
    if (this.cancelled === undefined) {
      this.cancelled =
        reason === 'client'
          ? new CancelledError()
          : new BackendTimeoutError(deadlinePassed, { writeOutcome: 'NOT_DONE' });
      for (const call of this.calls) call.cancel(this);
      for (const end of this.#whenCancelled ?? []) end();
    }
    if (reason === 'client') this.#leave();
  }

  whenCancelled(end: () => void): void {
    this.#whenCancelled ??= [];
    this.#whenCancelled.push(end);
  }

  #leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.onLeave?.();
  }

  /** Cancels the request when this time has passed since its start, in milliseconds. */
  setDeadline(ms: number): void {
    this.deadlineAt = this.startedAt + ms;
    const leftMs = this.deadlineAt - performance.now();
    if (leftMs <= 0) this.cancel('deadline');
    else this.#deadline = setTimeout(() => this.cancel('deadline'), leftMs);
  }

  /** Cancels the request when a signal is aborted, which a Fetch request does only while it is in memory. */
  follow(caller: { readonly signal: AbortSignal }): void {
    const { signal } = caller;
    // Node calls an object with `handleEvent` by a promise, which takes a seventh of a request in Yoga.
    const leave = () => {
      this.cancel(caller.signal.reason?.name === 'TimeoutError' ? 'deadline' : 'client');
      this.#leave();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
    this.#unfollow = () => signal.removeEventListener('abort', leave);
  }

  /** Releases what it holds. Returns whether it had not ended. */
  end(): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#unfollow?.();
    clearTimeout(this.#deadline);
    this.key.requests--;
    this.#releaseHeld();
    return true;
  }

  #releaseHeld(): void {
    if (this.#workGoingOn > 0) return;
    for (let index = this.#held.length - 1; index >= 0; index--) {
      this.#held.pop()?.release(this.key, this.#amounts[index]);
    }
  }
}
