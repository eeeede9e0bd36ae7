import { type Dispatcher, Pool } from 'undici';
import { BackendUnavailableError } from '../../contract/error.ts';
import { placeOf } from '../../places.ts';
import type { OriginState } from '../../telemetry/metrics.ts';
import { BodyBudget } from './body-budget.ts';
import { Circuit, type CircuitLimits } from './circuit.ts';
import { type Connector, createConnector } from './connector.ts';
import { type Cancellation, exchange, type RestResponse } from './exchange.ts';
import { ConnectionFailed, isUnanswered, toContractError } from './faults.ts';
import { KeyCircuits } from './key-circuits.ts';
import { KeyShares, tooManyWait } from './key-shares.ts';

/** How much of an origin is used, and how long each step may take. Times in milliseconds. */
export interface OriginLimits extends CircuitLimits {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** The most that the body of an answer may hold, in bytes. */
  readonly maxResponseBytes: number;
  /** The most that bodies may hold together while they arrive, large ones until they are used, in bytes. */
  readonly maxBytesHeld: number;
  /** Calls in flight; each has a connection of its own. */
  readonly maxConnections: number;
  /** Calls that wait for a connection. One more is refused at once. */
  readonly maxWaiting: number;
}

/** The limits of an origin unless others are given. */
export const defaultLimits: OriginLimits = {
  connectTimeoutMs: 2000,
  headersTimeoutMs: 5000,
  maxResponseBytes: 4 * 1024 * 1024,
  maxBytesHeld: 32 * 1024 * 1024,
  maxConnections: 128,
  maxWaiting: 1024,
  breakAfterFailures: 10,
  halfOpenAfterMs: 5000,
};

/**
 * The part of a run of failures that one key may have when calls went unanswered: ten failures open
 * the circuit of the origin when they are those of five keys.
 */
const shareOfKey = 0.2;

/**
 * The connections to one origin, bounded and behind two kinds of circuits. What says that the origin
 * is gone opens its own: no connection, or calls of several keys without an answer. What may be due
 * to one key, such as a status of 500 and above, opens that key's.
 */
export interface Origin extends AsyncDisposable {
  /** What the circuit and the queue look like at this moment. */
  state(): OriginState;
  /** @throws when the circuit is open, or the origin accepts no connection within `connectTimeoutMs`. */
  checkReady(): Promise<void>;
  /**
   * Sends one request and reads its whole answer; redirects are answers. `authorization` is the
   * credential that it carries.
   * @throws what undici throws, `BodyInterrupted` after the headers, `ConnectionFailed` before, and
   *   BackendUnavailableError when a circuit is open or too many calls wait already.
   */
  request(
    authorization: string,
    options: Dispatcher.DispatchOptions,
    cancellation: Cancellation,
  ): Promise<RestResponse>;
}

/** Opens an origin such as `https://pets.example`. Connects when first asked. */
export function openOrigin(
  origin: string,
  limits: OriginLimits,
  onCircuit: (state: 'open' | 'closed') => void,
): Origin {
  const connect = createConnector(limits.connectTimeoutMs);
  const pool = new Pool(origin, {
    connections: limits.maxConnections,
    connect,
    headersTimeout: limits.headersTimeoutMs,
    // The deadline of the call ends a body; a limit between chunks would never end one that drips.
    bodyTimeout: 0,
    maxResponseSize: limits.maxResponseBytes,
  });
  const maxPerKey = Math.ceil(limits.breakAfterFailures * shareOfKey);
  const circuit = new Circuit(limits, { maxPerKey, onChange: onCircuit });
  const keyCircuits = new KeyCircuits(limits);
  const bodyBudget = new BodyBudget(limits.maxBytesHeld);
  const keyShares = new KeyShares(limits);
  /** Calls that were let in, and those of them that wait for their turn among their key's. */
  let calls = 0;
  let waiting = 0;

  return {
    async request(authorization, options, cancellation) {
      if (calls >= limits.maxConnections + limits.maxWaiting) throw tooManyWait('');
      const place = placeOf(authorization);
      const turn = keyShares.enter(place, cancellation);
      if (turn !== undefined) {
        waiting++;
        calls++;
        await turn.finally(() => {
          waiting--;
          calls--;
        });
      }
      const begunAt = performance.now();
      const keyCircuit = keyCircuits.find(authorization);
      calls++;
      try {
        // First the key's: one whose calls fail is not the one to try whether the origin is back.
        if (keyCircuit?.refuses(begunAt)) throw circuitOpen(limits, ' for this API key');
        if (circuit.refuses(begunAt)) throw circuitOpen(limits, '');
        keyCircuit?.begin();
        circuit.begin();
        const response = await exchange(pool, options, cancellation, bodyBudget, place);
        // Whatever its status is, the origin is there.
        circuit.succeed();
        if (response.status >= 500) keyCircuits.fail(authorization, begunAt);
        else if (keyCircuit !== undefined) keyCircuits.forget(authorization);
        return response;
      } catch (error) {
        if (isUnanswered(error)) {
          circuit.fail(begunAt, keyCircuits.fail(authorization, begunAt));
        } else if (error instanceof ConnectionFailed) {
          circuit.fail(begunAt);
          keyCircuit?.leave(begunAt);
        } else if (!(error instanceof BackendUnavailableError)) {
          circuit.leave(begunAt);
          keyCircuit?.leave(begunAt);
        }
        throw error;
      } finally {
        calls--;
        keyShares.leave(place);
      }
    },
    state: () => ({
      circuit: circuit.state,
      refusedKeys: keyCircuits.countRefused(),
      inFlight: Math.min(calls - waiting, limits.maxConnections),
      waiting: Math.max(waiting, calls - limits.maxConnections),
    }),
    async checkReady() {
      // No longer than calls are: without requests no call would try, and it would stay open.
      if (circuit.refuses(performance.now())) throw circuitOpen(limits, '');
      await connectTo(new URL(origin), connect);
    },
    async [Symbol.asyncDispose]() {
      if (!pool.closed) await pool.close();
    },
  };
}

/** Connects and hangs up: a service that accepts connections is there, and no key is needed. */
function connectTo({ host, hostname, port, protocol }: URL, connect: Connector): Promise<void> {
  return new Promise((resolve, reject) => {
    const address = hostname.replace(/^\[|\]$/g, '');
    connect({ host, hostname: address, port, protocol }, (error, socket) => {
      if (error !== null) return reject(toContractError(error));
      socket.destroy();
      resolve();
    });
  });
}

function circuitOpen({ halfOpenAfterMs }: OriginLimits, forWhom: string): BackendUnavailableError {
  return new BackendUnavailableError(
    `The pet store has failed repeatedly${forWhom} and is given time to recover.`,
    { retryAfterMs: halfOpenAfterMs },
  );
}
