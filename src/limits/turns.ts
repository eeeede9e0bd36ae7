import type { ApiKey } from '../keys/api-key.ts';
import { FairQueue } from './fair-queue.ts';

/** Work on more bytes or characters than this takes milliseconds: let it wait for a turn of its own. */
export const turnBytes = 64 * 1024;

/** Who waits for a turn: the scope of a request, or only its key for what cannot be cancelled. */
export interface TurnCaller {
  readonly key: ApiKey;
  /** Why it no longer waits; undefined until then. */
  readonly cancelled?: Error | undefined;
  whenCancelled?(end: () => void): void;
}

/** Shared by all gateways of the process, which share its event loop. */
const waiting = new FairQueue<() => void>();
let isScheduled = false;
/** Whether the next turn is offered first to keys that were accepted, or to those that were not. */
let offersToAccepted = true;

/** Resolves when the caller may work as in `waitForTurn`. Rejects with `cancelled` if it is set. */
export function nextTurn(caller: TurnCaller): Promise<void> {
  if (caller.cancelled) return Promise.reject(caller.cancelled);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = waitForTurn(caller.key, resolve);
  caller.whenCancelled?.(() => {
    leave();
    reject(caller.cancelled);
  });
  return promise;
}

/**
 * Runs work that takes milliseconds in a turn of the event loop of its own, so that other
 * work runs in between. Keys are served one after the other; those that were never accepted get no more than
 * every second turn while accepted ones wait. Returns what removes work that still waits.
 */
export function waitForTurn(key: ApiKey, work: () => void): () => void {
  waiting.add(key, work);
  if (!isScheduled) setImmediate(runNext);
  isScheduled = true;
  return () => waiting.remove(key, work);
}

function runNext(): void {
  const isAccepted = offersToAccepted;
  offersToAccepted = !isAccepted;
  const work = waiting.next((key) => key.isAccepted === isAccepted) ?? waiting.next(() => true);
  isScheduled = !waiting.isEmpty;
  if (isScheduled) setImmediate(runNext);
  work?.();
}

type Task = { onEndOfTurn(): void };
let tasks: Task[] = [];

/**
 * Runs a task at the end of the current turn of the event loop, when all pending input has been read.
 * The tasks of a turn run as a batch, with the code still in the CPU's caches: without it, a request
 * costs 14 to 19 % more (docs/performance.md). A turn is that of the process, and so is the batch.
 */
export function atEndOfTurn(task: Task): void {
  if (tasks.push(task) === 1) setImmediate(runTasks);
}

function runTasks(): void {
  const batch = tasks;
  tasks = [];
  for (const task of batch) task.onEndOfTurn();
}
