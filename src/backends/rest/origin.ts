import { once } from 'node:events';
import { connect } from 'node:net';
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
} from 'cockatiel';
import { type Dispatcher, Pool } from 'undici';
import { BackendUnavailableError } from '../../contract/error.ts';
import type { OriginState } from '../../telemetry/metrics.ts';
import { type Cancellation, exchange, type RestResponse } from './exchange.ts';
import { isServiceFailure } from './faults.ts';

/** How much of an origin is used, and how long each step may take. Times in milliseconds. */
export interface OriginLimits {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** The most that the body of an answer may hold, in bytes. */
  readonly maxResponseBytes: number;
  /** Calls in flight; each has a connection of its own. */
  readonly maxConnections: number;
  /** Calls that wait for a connection. One more is refused at once. */
  readonly maxWaiting: number;
  /** So many failures in a row open the circuit, ... */
  readonly breakAfterFailures: number;
  /** ... and after this time one call may try whether the service is back. */
  readonly halfOpenAfterMs: number;
}

/** The limits of an origin unless others are given. */
export const defaultLimits: OriginLimits = {
  connectTimeoutMs: 2000,
  headersTimeoutMs: 5000,
  maxResponseBytes: 8 * 1024 * 1024,
  maxConnections: 128,
  maxWaiting: 1024,
  breakAfterFailures: 10,
  halfOpenAfterMs: 5000,
};

/** The connections to one origin, bounded and behind one circuit breaker. */
export interface Origin extends AsyncDisposable {
  /** What the circuit and the queue look like at this moment. */
  state(): OriginState;
  /** @throws when the circuit is open, or the origin accepts no connection within `connectTimeoutMs`. */
  checkReady(): Promise<void>;
  /**
   * Sends one request and reads its whole answer; redirects are answers.
   * @throws what undici throws, `BodyInterrupted` after the headers, and BackendUnavailableError
   *   when the circuit is open or too many calls wait already.
   */
  request(options: Dispatcher.DispatchOptions, cancellation: Cancellation): Promise<RestResponse>;
}

/** Opens an origin such as `https://pets.example`. Connects when first asked. */
export function openOrigin(origin: string, limits: OriginLimits): Origin {
  const pool = new Pool(origin, {
    connections: limits.maxConnections,
    connect: { timeout: limits.connectTimeoutMs },
    headersTimeout: limits.headersTimeoutMs,
    // The deadline of the call ends a body; a limit between chunks would never end one that drips.
    bodyTimeout: 0,
    maxResponseSize: limits.maxResponseBytes,
  });
  const breaker = circuitBreaker(
    handleWhen(
      (error) =>
        isServiceFailure(error) ||
        // A caller who leaves proves nothing; only an answer may close a circuit.
        breaker.state === CircuitState.HalfOpen,
    ).orWhenResult((result) => (result as RestResponse).status >= 500),
    {
      breaker: new ConsecutiveBreaker(limits.breakAfterFailures),
      halfOpenAfter: limits.halfOpenAfterMs,
    },
  );
  let calls = 0;

  return {
    async request(options, cancellation) {
      if (calls >= limits.maxConnections + limits.maxWaiting) {
        throw new BackendUnavailableError('Too many calls wait for the pet store already.', {
          retryAfterMs: 1000,
        });
      }
      // While one call tries whether the service is back, the others would wait for its verdict.
      if (breaker.state === CircuitState.HalfOpen) throw circuitOpen(limits);
      calls++;
      try {
        return await breaker.execute(() => exchange(pool, options, cancellation));
      } catch (error) {
        throw error instanceof BrokenCircuitError ? circuitOpen(limits) : error;
      } finally {
        calls--;
      }
    },
    state: () => ({
      circuit: circuitOf(breaker.state),
      inFlight: Math.min(calls, limits.maxConnections),
      waiting: Math.max(0, calls - limits.maxConnections),
    }),
    async checkReady() {
      if (breaker.state === CircuitState.Open) throw circuitOpen(limits);
      await connectTo(new URL(origin), limits.connectTimeoutMs);
    },
    async [Symbol.asyncDispose]() {
      if (!pool.closed) await pool.close();
    },
  };
}

function circuitOf(state: CircuitState): OriginState['circuit'] {
  if (state === CircuitState.Closed) return 'closed';
  return state === CircuitState.HalfOpen ? 'half-open' : 'open';
}

/** Connects and hangs up: a service that accepts connections is there, and no key is needed. */
async function connectTo({ hostname, port, protocol }: URL, timeoutMs: number): Promise<void> {
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    timeout: timeoutMs,
  });
  socket.once('timeout', () => socket.destroy(new Error('timeout')));
  try {
    await once(socket, 'connect');
  } catch (cause) {
    throw new BackendUnavailableError('The pet store could not be reached.', { cause });
  } finally {
    socket.destroy();
  }
}

function circuitOpen({ halfOpenAfterMs }: OriginLimits): BackendUnavailableError {
  return new BackendUnavailableError(
    'The pet store has failed repeatedly and is given time to recover.',
    { retryAfterMs: halfOpenAfterMs },
  );
}
