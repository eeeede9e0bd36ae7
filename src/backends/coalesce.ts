import type { Call, PetStore } from '../contract/pet-store.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Reads that are known to be in flight; the next one is simply not shared. */
const maxFlights = 1000;

interface Flight {
  readonly answer: Promise<unknown>;
  readonly cancel: AbortController;
  waiters: number;
}

/**
 * Answers equal reads that are in flight at the same time with one call: the same credential, the
 * same operation, the same parameters. A read that starts after a write of this process has ended
 * joins no read that began before it. A caller who leaves takes nothing from the others; the last
 * one to leave ends the call.
 */
export function coalesceReads(petStore: PetStore, metrics: Pick<Metrics, 'coalesced'>): PetStore {
  const flights = new Map<string, Flight>();

  function read<T>(
    operation: string,
    parameters: string,
    call: Call,
    start: (call: Call) => Promise<T>,
  ): Promise<T> {
    // The characters of a credential exclude the separator, so no two keys can run together.
    const key = `${call.authorization}\n${operation}\n${parameters}`;
    let flight = flights.get(key);
    if (flight === undefined) {
      if (flights.size >= maxFlights) return start(call);
      const cancel = new AbortController();
      const answer = start({ ...call, signal: cancel.signal });
      flight = { answer, cancel, waiters: 0 };
      flights.set(key, flight);
      const begun = flight;
      const land = () => {
        if (flights.get(key) === begun) flights.delete(key);
      };
      answer.then(land, land);
    } else {
      metrics.coalesced(operation);
    }
    return join(flight as Flight & { answer: Promise<T> }, call.signal, () => {
      if (flights.get(key) === flight) flights.delete(key);
    });
  }

  async function write<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      // Whoever reads from now on must see the write; those who wait already may not.
      flights.clear();
    }
  }

  return {
    listPets: (call, query) =>
      read('listPets', `${query.limit} ${query.status}`, call, (shared) =>
        petStore.listPets(shared, query),
      ),
    getPet: (call, petId) =>
      read('getPet', petId, call, (shared) => petStore.getPet(shared, petId)),
    listOrders: (call) => read('listOrders', '', call, (shared) => petStore.listOrders(shared)),
    createPet: (call, pet) => write(petStore.createPet(call, pet)),
    sendMessage: (call, message) => write(petStore.sendMessage(call, message)),
    checkReady: () => petStore.checkReady(),
    [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose](),
  };
}

/** Waits for a flight until it lands or this caller leaves. */
function join<T>(
  flight: { readonly answer: Promise<T>; readonly cancel: AbortController; waiters: number },
  signal: AbortSignal | undefined,
  onAbandoned: () => void,
): Promise<T> {
  flight.waiters++;
  if (signal === undefined) return flight.answer;
  return new Promise((resolve, reject) => {
    const onLeave = () => {
      reject(signal.reason);
      flight.waiters--;
      if (flight.waiters > 0) return;
      onAbandoned();
      flight.cancel.abort(signal.reason);
    };
    signal.addEventListener('abort', onLeave);
    const stay = () => signal.removeEventListener('abort', onLeave);
    flight.answer.then(
      (answer) => {
        stay();
        resolve(answer);
      },
      (error: unknown) => {
        stay();
        reject(error);
      },
    );
  });
}
