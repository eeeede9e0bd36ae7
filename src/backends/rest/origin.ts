import { type Dispatcher, Pool } from 'undici';
import { BackendUnavailableError } from '../../contract/error.ts';
import { bucketOf } from '../../key-buckets.ts';
import { KeyBudget } from '../../key-budget.ts';
import type { OriginState } from '../../telemetry/metrics.ts';
import { Circuit, type CircuitLimits } from './circuit.ts';
import { type Connector, createConnector } from './connector.ts';
import { type Cancellation, dispatchCall, type RestResponse } from './dispatch-call.ts';
import { ConnectionFailed, isIncomplete, toContractError } from './faults.ts';
import { KeyCircuits } from './key-circuits.ts';
import { KeyLimiter, tooManyCalls } from './key-limiter.ts';

/** The limits for the calls to an origin. Times are in milliseconds. */
export interface OriginLimits extends CircuitLimits {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Maximum size of a response body, in bytes. */
  readonly maxResponseBytes: number;
  /**
   * Maximum size of all bodies together, in bytes. A body counts while it is received; one beyond
   * 64 KiB counts until the response to the client is complete.
   */
  readonly maxBufferedBytes: number;
  /** Maximum number of connections; each has one call in flight. */
  readonly maxConnections: number;
  /** Maximum number of calls that wait for a connection. Further calls are rejected immediately. */
  readonly maxWaiting: number;
}

/** The default limits. */
export const defaultLimits: OriginLimits = {
  connectTimeoutMs: 2000,
  headersTimeoutMs: 5000,
  maxResponseBytes: 4 * 1024 * 1024,
  maxBufferedBytes: 32 * 1024 * 1024,
  maxConnections: 128,
  maxWaiting: 1024,
  breakAfterFailures: 10,
  halfOpenAfterMs: 5000,
};

/**
 * Maximum fraction of `breakAfterFailures` that one key contributes with calls that get no complete
 * response: ten such failures open the circuit of the origin only if they are from at least five
 * keys.
 */
const maxKeyFraction = 0.2;

/** The fraction of the bytes held for bodies that one key may use. */
const bodyKeyFraction = 0.75;

/**
 * The connections to one origin, with limits and two kinds of circuits. The circuit of the origin
 * opens if connecting fails, or if calls of several keys get no complete response. The circuit of a
 * key opens on failures that may be specific to the key, such as a 5xx status.
 */
export interface Origin extends AsyncDisposable {
  /** Returns the current state of the circuits and the queue, for metrics. */
  state(): OriginState;
  /** @throws if the circuit is open, or if connecting fails or exceeds `connectTimeoutMs`. */
  checkReady(): Promise<void>;
  /**
   * Sends one call and reads the complete response. Does not follow redirects. `authorization` is
   * the credential in the headers of the call.
   * @throws the errors of `dispatchCall`, `ConnectionFailed`, and BackendUnavailableError if a
   *   circuit is open or too many calls are waiting.
   */
  call(
    authorization: string,
    options: Dispatcher.DispatchOptions,
    cancellation: Cancellation,
  ): Promise<RestResponse>;
}

/** Opens an origin such as `https://pets.example`. Connects on the first call. */
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
    // The deadline of the call applies to the body. A timeout between chunks would not limit a body
    // that arrives slowly but steadily.
    bodyTimeout: 0,
    maxResponseSize: limits.maxResponseBytes,
  });
  const maxPerKey = Math.ceil(limits.breakAfterFailures * maxKeyFraction);
  const circuit = new Circuit(limits, { maxPerKey, onChange: onCircuit });
  const keyCircuits = new KeyCircuits(limits);
  const bodyBudget = new KeyBudget(limits.maxBufferedBytes, bodyKeyFraction);
  const keyLimiter = new KeyLimiter(limits);
  /** The number of calls in flight or waiting. */
  let calls = 0;
  /** The number of these that wait because their key has reached its limit. */
  let waitingForKey = 0;

  return {
    async call(authorization, options, cancellation) {
      if (calls >= limits.maxConnections + limits.maxWaiting) throw tooManyCalls('');
      const bucket = bucketOf(authorization);
      const turn = keyLimiter.acquire(bucket, cancellation);
      if (turn !== undefined) {
        waitingForKey++;
        calls++;
        await turn.finally(() => {
          waitingForKey--;
          calls--;
        });
      }
      const startedAt = performance.now();
      const keyCircuit = keyCircuits.find(authorization);
      calls++;
      try {
        // The key's circuit is checked first, so that a failing key does not probe the origin.
        if (keyCircuit?.rejects(startedAt)) throw circuitOpen(limits, ' for this API key');
        if (circuit.rejects(startedAt)) throw circuitOpen(limits, '');
        keyCircuit?.start();
        circuit.start();
        const response = await dispatchCall(pool, options, cancellation, bodyBudget, bucket);
        // Any response shows that the origin is available.
        circuit.succeed();
        if (response.status >= 500) keyCircuits.fail(authorization, startedAt);
        else if (keyCircuit !== undefined) keyCircuits.reset(authorization);
        return response;
      } catch (error) {
        if (isIncomplete(error)) {
          circuit.fail(startedAt, keyCircuits.fail(authorization, startedAt));
        } else if (error instanceof ConnectionFailed) {
          circuit.fail(startedAt);
          keyCircuit?.abandon(startedAt);
        } else if (!(error instanceof BackendUnavailableError)) {
          circuit.abandon(startedAt);
          keyCircuit?.abandon(startedAt);
        }
        throw error;
      } finally {
        calls--;
        keyLimiter.release(bucket);
      }
    },
    state: () => ({
      circuit: circuit.state,
      refusedKeys: keyCircuits.countOpen(),
      inFlight: Math.min(calls - waitingForKey, limits.maxConnections),
      waiting: Math.max(waitingForKey, calls - limits.maxConnections),
    }),
    async checkReady() {
      // Ready again when a probe is due: a load balancer sends no requests, and so no probe, until
      // the gateway is ready.
      if (circuit.rejects(performance.now())) throw circuitOpen(limits, '');
      await connectTo(new URL(origin), connect);
    },
    async [Symbol.asyncDispose]() {
      if (!pool.closed) await pool.close();
    },
  };
}

/** Connects and disconnects: this shows whether the service is available, and needs no key. */
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

function circuitOpen({ halfOpenAfterMs }: OriginLimits, scope: string): BackendUnavailableError {
  return new BackendUnavailableError(
    `The pet store has failed repeatedly${scope}. Calls are paused so that it can recover.`,
    { retryAfterMs: halfOpenAfterMs },
  );
}
