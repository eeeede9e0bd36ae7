import { type Dispatcher, Pool } from 'undici';
import { bucketOf } from '../../key-buckets.ts';
import { KeyBudget } from '../../key-budget.ts';
import type { OriginState } from '../../telemetry/metrics.ts';
import type { Cancellation } from './cancellation.ts';
import { Circuit } from './circuit.ts';
import { createConnector, TrackedClient } from './connections.ts';
import { dispatchCall } from './dispatch-call.ts';
import { outcomeOfFailure } from './failure.ts';
import { KeyCircuits } from './key-circuits.ts';
import { KeyLimiter } from './key-limiter.ts';
import { consequencesOf, type Failed, type Outcome } from './outcome.ts';

/** The default limits for the calls to an origin. Times are in milliseconds, sizes in bytes. */
export const defaultLimits = {
  connectTimeoutMs: 2000,
  /**
   * The age at which a connection is closed after its next call, and the longest time without one.
   * Addresses are looked up when a connection opens, so the gateway follows a service that moves.
   */
  maxConnectionAgeMs: 30_000,
  headersTimeoutMs: 5000,
  maxResponseBytes: 4 * 1024 * 1024,
  /**
   * Maximum size of all bodies together. A body counts while it is received; one beyond 64 KiB
   * counts until the result of the request, or its last part, is about to be written.
   */
  maxBufferedBytes: 32 * 1024 * 1024,
  /** Maximum number of connections; each has one call in flight. */
  maxConnections: 128,
  /** Maximum number of calls that wait for a connection. Further calls are refused immediately. */
  maxWaiting: 1024,
  breakAfterFailures: 10,
  halfOpenAfterMs: 5000,
};

/** The limits for the calls to an origin. */
export type OriginLimits = Readonly<typeof defaultLimits>;

/**
 * Maximum fraction of `breakAfterFailures` that one key contributes with lost calls: ten of them
 * open the circuit of the origin only if they are from at least five keys.
 */
const maxKeyFraction = 0.2;

/** The fraction of the bytes held for bodies that one key may use. */
const bodyKeyFraction = 0.75;

/** The connections to one origin, with limits and circuits. */
export type Origin = ReturnType<typeof openOrigin>;

/**
 * Opens an origin such as `https://pets.example`. Connects on the first call. The circuit of the
 * origin opens if connecting fails, or if calls of several keys get no complete response; that of a
 * key on failures that may be specific to the key, such as a 5xx status.
 */
export function openOrigin(
  origin: string,
  limits: OriginLimits,
  onCircuit: (state: 'open' | 'closed') => void,
) {
  const connect = createConnector(limits.connectTimeoutMs);
  const pool = new Pool(origin, {
    connections: limits.maxConnections,
    connect,
    factory: (url, options) =>
      new TrackedClient(url, { ...options, connect }, limits.maxConnectionAgeMs),
    keepAliveMaxTimeout: limits.maxConnectionAgeMs,
    headersTimeout: limits.headersTimeoutMs,
    // The deadline of the call applies to the body. A timeout between chunks would not limit a body
    // that arrives slowly but steadily.
    bodyTimeout: 0,
    maxResponseSize: limits.maxResponseBytes,
  });
  const maxPerKey = Math.ceil(limits.breakAfterFailures * maxKeyFraction);
  const circuit = new Circuit(limits, onCircuit);
  const keyCircuits = new KeyCircuits(limits);
  const budget = new KeyBudget(limits.maxBufferedBytes, bodyKeyFraction);
  const keyLimiter = new KeyLimiter(limits);

  const refuse = (
    why: 'circuit' | 'keyCircuit' | 'queueFull' | 'keyQueueFull',
    retryAfterMs: number,
  ): Failed => ({ kind: 'notSent', why, retryAfterMs });

  async function send(
    authorization: string,
    bucket: number,
    options: Dispatcher.DispatchOptions,
    cancellation: Cancellation,
  ): Promise<Outcome> {
    const startedAt = performance.now();
    const keyCircuit = keyCircuits.find(authorization);
    // The key's circuit is checked first, so that a failing key does not probe the origin.
    if (keyCircuit?.rejects(startedAt)) return refuse('keyCircuit', limits.halfOpenAfterMs);
    if (circuit.rejects(startedAt)) return refuse('circuit', limits.halfOpenAfterMs);
    keyCircuit?.start();
    circuit.start();
    const outcome = await dispatchCall(pool, options, { cancellation, budget, bucket });
    const { key, service } = consequencesOf(outcome);
    const failedKey = keyCircuits.end(authorization, key, startedAt);
    circuit.end(service, startedAt, failedKey, failedKey ? maxPerKey : undefined);
    return outcome;
  }

  return {
    /** Sends one call. `authorization` is the credential in its headers. Never rejects. */
    async call(
      authorization: string,
      options: Dispatcher.DispatchOptions,
      cancellation: Cancellation,
    ): Promise<Outcome> {
      if (cancellation.reason !== undefined) return cancellation.outcome(false);
      const bucket = bucketOf(authorization);
      // Awaited only if the call has to wait.
      const acquired = keyLimiter.acquire(bucket, cancellation);
      const refused = acquired instanceof Promise ? await acquired : acquired;
      if (refused === 'cancelled') return cancellation.outcome(false);
      if (refused !== undefined) return refuse(refused, 1000);
      try {
        return await send(authorization, bucket, options, cancellation);
      } finally {
        keyLimiter.release(bucket);
      }
    },
    /** Returns the current state of the circuits and the queue, for metrics. */
    state: (): OriginState => ({
      circuit: circuit.state,
      refusedKeys: keyCircuits.countOpen(),
      inFlight: pool.stats.running,
      waiting: keyLimiter.calls - pool.stats.running,
    }),
    /**
     * Connects and disconnects: this shows whether the service is available, and needs no key.
     * Returns why it can't take calls; undefined if it can.
     */
    async checkReady(): Promise<Failed | undefined> {
      // Ready again when a probe is due: a load balancer sends no requests, and so no probe, until
      // the gateway is ready.
      if (circuit.rejects(performance.now())) return refuse('circuit', limits.halfOpenAfterMs);
      const { host, hostname, port, protocol } = new URL(origin);
      const address = hostname.replace(/^\[|\]$/g, '');
      const { promise, resolve } = Promise.withResolvers<Failed | undefined>();
      connect({ host, hostname: address, port, protocol }, (error, socket) => {
        socket?.destroy();
        resolve(error === null ? undefined : outcomeOfFailure(error, false, 0, false));
      });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      if (!pool.closed) await pool.close();
    },
  };
}
