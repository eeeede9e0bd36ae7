import type { CallObservation, CallObserver, OperationId } from '../contract/pet-store.ts';
import { operations } from '../contract/pet-store.ts';
import type { ContextOptions, PetStoreCalls, ResponseKey } from './context.ts';
import { createContext } from './context.ts';
import type { ExplainedCall } from './result.ts';

/** Any of the calls. */
type Send = (parameters: unknown, field: ResponseKey) => Promise<unknown>;

/** Observes the call that a field starts, or the call in flight that it joins. */
function observeField(observer: CallObserver) {
  return {
    lastCall: undefined as CallObservation | undefined,
    joined: undefined as CallObservation | undefined,
    get caller() {
      return observer.caller;
    },
    set caller(caller) {
      observer.caller = caller;
    },
    observe(...call: Parameters<CallObserver['observe']>) {
      this.lastCall = observer.observe(...call);
      return this.lastCall;
    },
    observeQuery: (...query: Parameters<CallObserver['observeQuery']>) =>
      observer.observeQuery(...query),
    join(call: CallObservation) {
      this.joined = call;
    },
  };
}

/**
 * Creates the context of a request that asks for its REST calls. Makes the same calls as that of
 * `createContext`; `calls` returns those that have ended, in the order in which their fields started.
 */
export function createExplainedContext(options: ContextOptions, requestObserver: CallObserver) {
  const startedAt = performance.now();
  /** By operation and parameters, because equal reads are one call. */
  const started = new Map<
    string,
    { result: Promise<unknown>; observer: ReturnType<typeof observeField> }
  >();
  /** Each at the position of its field, which is empty without a call that has ended. */
  const calls: ExplainedCall[] = [];
  let fields = 0;

  function start(operation: OperationId, parameters: unknown, field: ResponseKey) {
    const observer = observeField(requestObserver);
    const { petStore } = createContext({ ...options, observer });
    return { observer, result: (petStore[operation] as Send)(parameters, field) };
  }

  async function explain(operation: OperationId, parameters: unknown, field: ResponseKey) {
    const position = fields++;
    const fieldStartedAt = performance.now();
    const { method, path: pathTemplate } = operations[operation];
    const id = JSON.stringify([operation, method === 'GET' ? parameters : field]);
    const known = started.get(id);
    const { observer, result } = known ?? start(operation, parameters, field);
    if (known === undefined) started.set(id, { observer, result });
    try {
      return await result;
    } finally {
      const call = observer.lastCall ?? observer.joined;
      if (call) {
        const { status, retries, bytes } = call;
        const startMs = rounded(fieldStartedAt - startedAt);
        const durationMs = rounded(performance.now() - fieldStartedAt);
        const shared = known !== undefined || observer.lastCall === undefined;
        const rest = { status, startMs, durationMs, retries, bytes, shared };
        calls[position] = { path: [field], operation, method, pathTemplate, ...rest };
      }
    }
  }

  const ids = Object.keys(operations) as OperationId[];
  const sends = ids.map((id): [string, Send] => [id, (...args) => explain(id, ...args)]);
  // Calls of other paths are not explained.
  const { rest } = createContext({ ...options, observer: requestObserver }).petStore;
  const petStore = { ...Object.fromEntries(sends), rest } as unknown as PetStoreCalls;
  return { context: { petStore }, calls: (): readonly ExplainedCall[] => Object.values(calls) };
}

const rounded = (ms: number) => Math.round(ms * 100) / 100;
