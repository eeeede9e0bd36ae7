import type { SecureContextOptions } from 'node:tls';
import { type Dispatcher, Pool } from 'undici';
import { Share } from '../../limits/share.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { CallQueue, mostlyPerKey } from './call-queue.ts';
import type { Cancellation } from './cancellation.ts';
import { Circuit, KeyCircuits } from './circuit.ts';
import { createConnector, TrackedClient } from './connections.ts';
import { dispatchCall } from './dispatch-call.ts';
import { consequencesOf, type Failed, type Outcome, outcomeOfFailure } from './outcome.ts';
import type { ServiceProxy } from './proxy.ts';

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

/**
 * The most retries that are paused or in flight: they must not multiply the load on a service that is
 * overloaded.
 */
const maxRetries = { total: 10, perKey: 5 };

/** The connections to one origin, with limits and circuits. */
export type Origin = ReturnType<typeof openOrigin>;

/**
 * Opens an origin such as `https://pets.example`; the log and the metrics show the service's name
 * only. Connects on the first call. The circuit of the origin opens if connecting fails, or if calls
 * of several keys get no complete response; that of a key on failures that may be specific to the
 * key, such as a 5xx status.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the methods share a pool, circuits and limits.
export function openOrigin(
  service: string,
  origin: string,
  proxy: ServiceProxy | undefined,
  tls: SecureContextOptions,
  limits: OriginLimits,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
) {
  const { connectTimeoutMs, maxConnectionAgeMs, maxResponseBytes: maxBodyBytes } = limits;
  let connect = createConnector(connectTimeoutMs, tls, proxy);
  const pool = new Pool(origin, {
    connections: limits.maxConnections,
    connect: (...to) => connect(...to),
    factory: (url, options) => new TrackedClient(url, options, maxConnectionAgeMs),
    // Otherwise all calls wait for the first connection, because it may be one of HTTP/2.
    allowH2: false,
    keepAliveMaxTimeout: maxConnectionAgeMs,
    headersTimeout: limits.headersTimeoutMs,
    // The deadline of the call applies to the body. A timeout between chunks would not limit a body
    // that arrives slowly but steadily.
    bodyTimeout: 0,
    maxResponseSize: maxBodyBytes,
  });
  const maxPerKey = Math.ceil(limits.breakAfterFailures * maxKeyFraction);
  const circuit = new Circuit(limits, (state) =>
    log.warn({ service }, state === 'open' ? 'circuit opened' : 'circuit closed'),
  );
  const keyCircuits = new KeyCircuits(limits);
  const bodyBytes = new Share(`${service}_response_bytes`, mostlyPerKey(limits.maxBufferedBytes));
  const queue = new CallQueue(service, limits);
  const retries = new Share(`${service}_retries`, maxRetries);
  for (const limit of [queue.inFlight, queue.waiting, bodyBytes, retries]) {
    metrics.watchLimit(limit);
  }
  metrics.circuits({ service }, () => circuit.state);
  metrics.refusedKeys({ service }, () => keyCircuits.countOpen());

  return {
    proxy,
    /** Uses these certificates for further connections. */
    setTls(next: SecureContextOptions): void {
      connect = createConnector(connectTimeoutMs, next, proxy);
    },
    /** Limits the retries of calls that failed. */
    retries,
    /** Sends one call of this key; see `Call.key`. Never rejects. */
    async call(
      key: number,
      options: Dispatcher.DispatchOptions,
      cancellation: Cancellation,
    ): Promise<Outcome> {
      if (cancellation.isOver()) return cancellation.outcome(false);
      const entered = queue.enter(key, cancellation);
      // Awaited only if the call has to wait.
      const place = entered instanceof Promise ? await entered : entered;
      if (place === undefined) return cancellation.outcome(false);
      if (typeof place === 'string') return { why: place, retryAfterMs: 1000 };
      const startedAt = performance.now();
      const keyCircuit = keyCircuits.get(key);
      // The key's circuit is checked first, so that a failing key does not probe the origin.
      const keyRejectedMs = keyCircuit?.rejectsForMs(startedAt) ?? 0;
      const rejectedMs = keyRejectedMs || circuit.rejectsForMs(startedAt);
      if (rejectedMs > 0) {
        queue.leave(place);
        return { why: keyRejectedMs > 0 ? 'keyCircuit' : 'circuit', retryAfterMs: rejectedMs };
      }
      keyCircuit?.start();
      circuit.start();
      // The next call starts when undici no longer has this one, and the circuits know its outcome.
      let holders = 2;
      const leave = () => {
        holders--;
        if (holders === 0) queue.leave(place);
      };
      const callLimits = { cancellation, bodyBytes, key, maxBodyBytes, leave };
      const outcome = await dispatchCall(pool, options, callLimits);
      const effects = consequencesOf(outcome);
      const isFailure = effects.key === 'failure';
      if (isFailure || keyCircuits.size > 0) keyCircuits.end(key, effects.key, startedAt);
      if (isFailure) circuit.end(effects.service, startedAt, key, maxPerKey);
      else circuit.end(effects.service, startedAt);
      leave();
      return outcome;
    },
    /**
     * Connects and disconnects: this shows whether the service is available, and needs no key.
     * Returns why it can't take calls; undefined if it can.
     */
    async checkReady(): Promise<Failed | undefined> {
      // Ready again when a probe is due: a load balancer sends no requests, and so no probe, until
      // the gateway is ready.
      const rejectedMs = circuit.rejectsForMs(performance.now());
      if (rejectedMs > 0) return { why: 'circuit', retryAfterMs: rejectedMs };
      const { host, hostname, port, protocol } = new URL(origin);
      const { promise, resolve } = Promise.withResolvers<Failed | undefined>();
      connect({ host, hostname, port, protocol }, (error, socket) => {
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
