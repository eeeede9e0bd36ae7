import { CancelledError } from '../contract/error.ts';
import type {
  Call,
  CallObservation,
  Method,
  OperationId,
  PetStore,
  RestRequest,
} from '../contract/pet-store.ts';
import { operations } from '../contract/pet-store.ts';
import { bucketCount, bucketOf, hash } from '../limits/key.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * Maximum age of a call that a read can join, in milliseconds. Later reads make their own call, so
 * that a hanging call delays only the callers that arrived in this time.
 */
const maxAgeMs = 100;

/** A read in flight. */
interface Flight {
  readonly authorization: string;
  readonly operation: string;
  readonly parameters: string;
  readonly result: Promise<unknown>;
  /** When the caller that started it began to wait, as a `performance.now()` timestamp. */
  readonly waitingSince: number;
  /** The call to another service; undefined if the backend makes none. */
  readonly observed: CallObservation | undefined;
  /** The observer of the caller that started it. */
  readonly observer: Call['observer'];
}

/**
 * Makes one call for equal reads that start within `maxAgeMs`: reads with the same credential,
 * operation, parameters and forwarded headers. A read that starts after a write of this process has ended does not
 * join an earlier read. If the caller that started a call disconnects, the others make one new
 * call, with their original deadlines.
 */
export function coalesceReads(
  petStore: PetStore,
  metrics: Pick<Metrics, 'coalescedReads'>,
): PetStore {
  // One slot per bucket: a read whose slot is taken by a different read is not shared. A Map would
  // replace its internal table as it grows and shrinks, and each old table would keep the next one
  // and its entries in memory until it is collected (docs/performance.md).
  const flights = new Array<Flight | undefined>(bucketCount).fill(undefined);

  function read(operation: OperationId | 'send', call: Call, value: unknown): Promise<unknown> {
    const { authorization, observer, forwarded } = call;
    const waitingSince = call.waitingSince ?? performance.now();
    const parameters =
      (value === undefined ? '' : JSON.stringify(value)) +
      (forwarded ? JSON.stringify(forwarded) : '');
    const bucket = bucketOf(hash(parameters, call.key));
    const found = flights[bucket];
    // A flight that began at another time is replaced: its deadline differs from this caller's.
    const flight =
      found && Math.abs(waitingSince - found.waitingSince) < maxAgeMs ? found : undefined;
    if (
      flight?.authorization === authorization &&
      flight.operation === operation &&
      flight.parameters === parameters
    ) {
      metrics.coalescedReads.inc({ operation });
      if (flight.observed) observer?.join?.(flight.observed);
      return join(flight, call, () => read(operation, { ...call, waitingSince }, value));
    }
    const result = (petStore[operation] as Method)(call, value);
    if (flight !== undefined) return result;
    const observed = observer?.lastCall;
    const own = { authorization, operation, parameters, result, waitingSince, observed, observer };
    flights[bucket] = own;
    const remove = () => {
      if (flights[bucket] === own) flights[bucket] = undefined;
    };
    result.then(remove, remove);
    return result;
  }

  function methodOf(id: OperationId | 'send'): Method {
    return (call, value) => {
      const { method } = id === 'send' ? (value as RestRequest) : operations[id];
      if (method === 'GET') return read(id, call, value);
      // Reads that start after a write must see it, which reads in flight may have missed.
      return (petStore[id] as Method)(call, value).finally(() => flights.fill(undefined));
    };
  }

  const ids = [...(Object.keys(operations) as OperationId[]), 'send'] as const;
  return {
    ...petStore,
    ...Object.fromEntries(ids.map((id) => [id, methodOf(id)])),
  };
}

/**
 * Waits for the result of a flight, or until this caller disconnects. Calls `restart` if the flight
 * was cancelled, because the caller that started it disconnected.
 */
function join(
  flight: Flight,
  { signal, observer }: Call,
  restart: () => Promise<unknown>,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new CancelledError());
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);
    flight.result
      .finally(() => {
        signal?.removeEventListener('abort', onAbort);
        if (observer) observer.caller ??= flight.observer?.caller;
      })
      .catch((error: unknown) => {
        if (error instanceof CancelledError && !signal?.aborted) return restart();
        throw error;
      })
      .then(resolve, reject);
  });
}
