import type { Dispatcher } from 'undici';
import type {
  Caller,
  CallSpan,
  Operation,
  RestRequest,
  ServiceCall,
} from '../../contract/pet-store.ts';
import type { ApiKey, KeyedCaller, SharedRead } from '../../keys/api-key.ts';
import { turnBytes } from '../../limits/turns.ts';
import type { Deadlines, DueCall } from './deadlines.ts';
import type { Origin } from './origin.ts';
import type { Failed, Outcome } from './outcome.ts';

/** Where calls go, and what they share. */
export interface Service {
  readonly origin: Origin;
  readonly deadlines: Deadlines;
  /** The longest time of a call, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly completion: Completes;
  /** When a write last ended, as by `performance.now()`. Later reads don't join those before it. */
  writtenAt: number;
}

/** Passes on the JSON of a success, and counts how it differs from the contract. */
export type Inspect = (json: unknown) => unknown;

/** What is declared of a success, and how the text of its body is read. */
export interface Success<T = unknown> extends Pick<Operation, 'status' | 'record' | 'list'> {
  readonly read: (text: string, inspect: Inspect) => T;
}

/** What a call is made of: `id` as in `SharedRead`, and `sent` for undici. */
export interface RestCallParts extends Pick<SharedRead, 'id'> {
  readonly service: Service;
  readonly caller: KeyedCaller;
  readonly request: RestRequest;
  readonly sent: Dispatcher.DispatchOptions;
  readonly success: Success;
  readonly span: CallSpan | undefined;
}

/** Ends calls; see `Completion`. */
export interface Completes {
  countRetry(call: AwaitedCall, outcome: Outcome): void;
  complete(call: AwaitedCall, outcome: Outcome): void;
}

/** A caller that waits for the result. */
interface Waiter extends Omit<PromiseWithResolvers<unknown>, 'promise'> {
  readonly caller: Caller;
}

/** A call as its completion sees it: who waits for it, and what is reported of it. */
export abstract class AwaitedCall implements ServiceCall, SharedRead, DueCall {
  readonly parts: RestCallParts;
  readonly id: string;
  readonly caller: Caller;
  readonly key: ApiKey;
  readonly operation: string;
  readonly startedAt = performance.now();
  readonly deadlineAt: number;
  next: DueCall | undefined;
  previous: DueCall | undefined;
  onEnd: ServiceCall['onEnd'];

  outcome: number | string | undefined;
  ms = 0;
  status: number | null = null;
  bytes = 0;
  retries = 0;
  /** How many bytes of bodies are counted. */
  bodyBytes = 0;
  waiters: Waiter[] = [];

  constructor(parts: RestCallParts) {
    this.parts = parts;
    this.id = parts.id;
    this.caller = parts.caller;
    this.key = parts.caller.key;
    this.operation = parts.request.operation;
    this.deadlineAt = this.startedAt + parts.service.timeoutMs;
  }

  wait(caller: Caller): Promise<unknown> {
    caller.calls.push(this);
    const { promise, resolve, reject } = Promise.withResolvers();
    this.waiters.push({ caller, resolve, reject });
    return promise;
  }

  abstract cancel(caller: Caller): void;
  abstract expire(): void;
}

/** Counts bytes of the body of a call. Returns why there is no memory for them. */
export function countBytes(call: AwaitedCall, bytes: number): Failed | undefined {
  const refusedBy = call.parts.service.origin.bodyBytes.take(call.key, bytes);
  if (refusedBy !== undefined) return { why: 'noMemory', retryAfterMs: 1000 };
  call.bodyBytes += bytes;
  return undefined;
}

/**
 * Stops counting the bytes of a body. Those of a large one that is used stay counted until the request
 * of the first caller that waits ends, because its response may refer to them.
 */
export function releaseBytes(call: AwaitedCall, isUsed: boolean): void {
  const { parts, key, waiters, bodyBytes: bytes } = call;
  const { bodyBytes } = parts.service.origin;
  const [first] = waiters;
  if (isUsed && bytes > turnBytes && first !== undefined) first.caller.hold(bodyBytes, bytes);
  else bodyBytes.release(key, bytes);
  call.bodyBytes = 0;
}
