import type { Call, PetStore } from '../contract/pet-store.ts';
import { placeOf, places } from '../places.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * How old a read may be when another joins it, in milliseconds. Reads that began later have a call of
 * their own, so that a call that hangs costs the callers of these milliseconds and no others.
 */
const maxAgeMs = 100;

interface Flight<T> {
  readonly authorization: string;
  readonly operation: string;
  readonly parameters: string;
  readonly answer: Promise<T>;
  /** When the caller who began it began to wait, on the clock of `performance.now()`. */
  readonly since: number;
  /** Aborted when the caller who began it leaves, which ends it. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Answers equal reads that begin within `maxAgeMs` with one call: the same credential, the same
 * operation, the same parameters. A read that starts after a write of this process has ended joins
 * no read that began before it. A caller who leaves takes nothing from the others: when the one who
 * began a call leaves, those who wait for it begin another, which ends by the time they began.
 */
export function coalesceReads(petStore: PetStore, metrics: Pick<Metrics, 'coalesced'>): PetStore {
  // One whose place is taken by another is simply not shared. Not a Map: one whose entries come and
  // go with each request leaves its outgrown tables to the garbage collector, each of which holds on
  // to the next and all that was in it.
  const flights = new Array<Flight<unknown> | undefined>(places).fill(undefined);

  function read<T>(
    operation: string,
    parameters: string,
    call: Call,
    start: (call: Call) => Promise<T>,
  ): Promise<T> {
    const { authorization } = call;
    const since = call.waitsSince ?? performance.now();
    const place = placeOf(authorization, parameters);
    const found = flights[place];
    // One that began at another time gives its place away: its deadline is not this caller's.
    const flight = found && Math.abs(since - found.since) < maxAgeMs ? found : undefined;
    if (
      flight?.authorization === authorization &&
      flight.operation === operation &&
      flight.parameters === parameters
    ) {
      metrics.coalesced(operation);
      const again = () => read(operation, parameters, { ...call, waitsSince: since }, start);
      // The operation tells the type of its answer.
      return join(flight as Flight<T>, call.signal, again);
    }
    const answer = start(call);
    if (flight !== undefined) return answer;
    const { signal } = call;
    const own = { authorization, operation, parameters, answer, since, signal };
    flights[place] = own;
    const land = () => {
      if (flights[place] === own) flights[place] = undefined;
    };
    answer.then(land, land);
    return answer;
  }

  async function write<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      // Whoever reads from now on must see the write; those who wait already may not.
      flights.fill(undefined);
    }
  }

  return {
    listPets: (call, query) =>
      read('listPets', `${query.limit} ${query.status}`, call, (one) =>
        petStore.listPets(one, query),
      ),
    getPet: (call, petId) => read('getPet', petId, call, (one) => petStore.getPet(one, petId)),
    listOrders: (call) => read('listOrders', '', call, (one) => petStore.listOrders(one)),
    createPet: (call, pet) => write(petStore.createPet(call, pet)),
    sendMessage: (call, message) => write(petStore.sendMessage(call, message)),
    checkReady: () => petStore.checkReady(),
    [Symbol.asyncDispose]: () => petStore[Symbol.asyncDispose](),
  };
}

/** Waits for a flight until it lands or this caller leaves; begins again when its beginner left. */
function join<T>(
  flight: Flight<T>,
  signal: AbortSignal | undefined,
  again: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onLeave = () => reject(signal?.reason);
    signal?.addEventListener('abort', onLeave);
    const stay = () => signal?.removeEventListener('abort', onLeave);
    flight.answer.then(
      (answer) => {
        stay();
        resolve(answer);
      },
      (error: unknown) => {
        stay();
        if (signal?.aborted) return;
        if (flight.signal?.aborted) again().then(resolve, reject);
        else reject(error);
      },
    );
  });
}
