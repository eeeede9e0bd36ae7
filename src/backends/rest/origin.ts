import type { SecureContextOptions } from 'node:tls';
import { Pool } from 'undici';
import type { ApiKey } from '../../keys/api-key.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { Circuit } from '../../limits/circuit.ts';
import type { Limit } from '../../limits/limit.ts';
import type { Places } from '../../limits/places.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';
import { closeAccepted, createConnector, TrackedClient } from './connections.ts';
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
   * counts until the request ends.
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

/** The most retries, paused or in flight: they must not multiply the load on a busy service. */
const maxRetries = { total: 10, perKey: 5 };

/** What an origin is opened with. */
export interface OriginOptions {
  /** The name of the service, which is all that the log and the metrics show of it. */
  readonly service: string;
  /** Its place among the origins, in `ApiKey.circuits`. */
  readonly index: number;
  /** An origin such as `https://service.example`. */
  readonly origin: string;
  readonly proxy: ServiceProxy | undefined;
  readonly tls: SecureContextOptions;
  readonly limits: OriginLimits;
}

/**
 * The connections to one origin, one for each call in flight, with its places, limits and circuits. The
 * circuit of the origin opens if connecting fails, or if calls of several keys get no complete response;
 * that of a key on failures that may be specific to the key, such as a 5xx status.
 */
export class Origin {
  readonly maxBodyBytes: number;
  readonly bodyBytes: Limit;
  readonly pool: Pool;
  /** Limits the retries of calls that failed. */
  readonly retries: Limit;
  readonly places: Places;
  readonly #options: OriginOptions;
  readonly #circuit: Circuit;
  readonly #maxFailuresPerKey: number;
  #connect: ReturnType<typeof createConnector>;

  constructor(options: OriginOptions, keys: ApiKeys, { log, metrics }: Reporting) {
    const { service, index, limits, proxy, tls } = options;
    this.#options = options;
    this.maxBodyBytes = limits.maxResponseBytes;
    this.#maxFailuresPerKey = Math.ceil(limits.breakAfterFailures * maxKeyFraction);
    this.#connect = createConnector(limits.connectTimeoutMs, tls, proxy);
    this.pool = new Pool(options.origin, {
      connections: limits.maxConnections,
      connect: (...to) => this.#connect(...to),
      factory: (url, settings) => new TrackedClient(url, settings, limits.maxConnectionAgeMs),
      // Otherwise all calls wait for the first connection, because it may be one of HTTP/2.
      allowH2: false,
      keepAliveMaxTimeout: limits.maxConnectionAgeMs,
      headersTimeout: limits.headersTimeoutMs,
      // The deadline of the call applies to the body. A timeout between chunks would not limit a body
      // that arrives slowly but steadily.
      bodyTimeout: 0,
      maxResponseSize: limits.maxResponseBytes,
    });
    this.#circuit = new Circuit(limits, (state) =>
      log.warn({ service }, state === 'open' ? 'circuit opened' : 'circuit closed'),
    );
    this.places = keys.openPlaces(service, limits.maxConnections, limits.maxWaiting);
    const { maxBufferedBytes: total } = limits;
    const bodyBytes = { total, perKey: Math.ceil(total * 0.75) };
    this.bodyBytes = keys.openLimit(`${service}_response_bytes`, bodyBytes);
    this.retries = keys.openLimit(`${service}_retries`, maxRetries);
    const { inFlight, waiting } = this.places;
    for (const limit of [inFlight, waiting, this.bodyBytes, this.retries]) {
      metrics.watchLimit(limit);
    }
    metrics.circuits({ service }, () => this.#circuit.state);
    metrics.refusedKeys({ service }, () => {
      const now = performance.now();
      return keys.count(({ circuits }) => (circuits[index]?.rejectsForMs(now) ?? 0) > 0);
    });
  }

  /** Uses these certificates for further connections. */
  setTls(tls: SecureContextOptions): void {
    const { limits, proxy } = this.#options;
    this.#connect = createConnector(limits.connectTimeoutMs, tls, proxy);
  }

  /** Returns why no call of a key may start; undefined if one may, which then is a probe. */
  refusal(key: ApiKey, now: number): Failed | undefined {
    // The key's circuit is checked first, so that a failing key does not probe the origin.
    const ofKey = key.circuits[this.#options.index];
    const keyRejectedMs = ofKey?.rejectsForMs(now) ?? 0;
    if (keyRejectedMs > 0) return { why: 'keyCircuit', retryAfterMs: keyRejectedMs };
    const rejectedMs = this.#circuit.rejectsForMs(now);
    if (rejectedMs > 0) return { why: 'circuit', retryAfterMs: rejectedMs };
    ofKey?.start();
    this.#circuit.start();
    return undefined;
  }

  /** Records in the circuits what became of a call that started at `startedAt`. */
  record(key: ApiKey, outcome: Outcome, startedAt: number): void {
    const effects = consequencesOf(outcome);
    const { index, limits } = this.#options;
    const isFailure = effects.key === 'failure';
    if (effects.key === 'success') key.succeededAt[index] = performance.now();
    if (isFailure || key.circuits[index] !== undefined) {
      const circuit = key.circuits[index] ?? new Circuit(limits, undefined, key.succeededAt[index]);
      circuit.end(effects.key, startedAt);
      // A key without a failure since its last success needs no memory.
      key.circuits[index] = circuit.failures > 0 ? circuit : undefined;
    }
    if (isFailure) this.#circuit.end(effects.service, startedAt, key, this.#maxFailuresPerKey);
    else this.#circuit.end(effects.service, startedAt);
  }

  /**
   * Connects and disconnects: this shows whether the service is available, and needs no key.
   * Returns why it can't take calls; undefined if it can.
   */
  async checkReady(): Promise<Failed | undefined> {
    // Ready again when a probe is due: a load balancer sends no requests, and so no probe, until
    // the gateway is ready.
    const rejectedMs = this.#circuit.rejectsForMs(performance.now());
    if (rejectedMs > 0) return { why: 'circuit', retryAfterMs: rejectedMs };
    const { host, hostname, port, protocol } = new URL(this.#options.origin);
    const { promise, resolve, reject } = Promise.withResolvers<Failed | undefined>();
    this.#connect({ host, hostname, port, protocol }, (error, socket) => {
      if (error === null) resolve(closeAccepted(socket));
      else reject(error);
    });
    return promise.catch((error) => outcomeOfFailure(error, true, 0, false));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.pool.closed) await this.pool.close();
  }
}
