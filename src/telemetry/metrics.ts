import {
  type Aggregator,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricType,
  type MetricValue,
  type OpenMetricsContentType,
  Registry,
} from '@prometheus-io/client';
import { LabelValues } from './label-values.ts';

/** The state of the circuit breakers of an origin. */
export interface OriginState {
  readonly circuit: 'closed' | 'half-open' | 'open';
  /** The number of API keys whose circuit is open. */
  readonly refusedKeys: number;
}

/** What is used of a limit, and how often the limit per key and that of all keys have refused. */
export interface LimitState {
  readonly name: string;
  readonly used: number;
  readonly refused: Readonly<Record<'key' | 'all', number>>;
}

/** The ids that link a measurement to its log line and trace. */
export interface ExemplarIds {
  readonly requestId: string;
  readonly traceId: string | undefined;
}

/** All metrics of one process, as data that can be sent to another process. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The metrics of one scrape. */
export interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Combines the metrics of several processes into one scrape: counters and histograms are summed,
 * the worst state of a circuit is kept, and the event-loop lag is averaged.
 */
export async function aggregate(processes: readonly MetricsSnapshot[]): Promise<Scrape> {
  const registry = Registry.aggregate([...processes]);
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/**
 * Adds the counts of a process to a sum. Those of a process that has exited are kept, because
 * Prometheus reads a decrease as a counter reset. Gauges are dropped.
 */
export async function addCounts(
  sum: MetricsSnapshot,
  added: MetricsSnapshot,
): Promise<MetricsSnapshot> {
  const counts = added.filter(({ type }) => cumulative.has(type));
  return Registry.aggregate([sum, counts]).getMetricsAsJSON();
}

const cumulative = new Set<MetricType>(['counter', 'histogram']);

/**
 * The metrics of the gateway. Label values are bounded in number, so no client can make them grow.
 */
export class Metrics {
  // The OpenMetrics format, because the older text format has no exemplars.
  readonly #registry = new Registry<OpenMetricsContentType>(Registry.OPENMETRICS_CONTENT_TYPE);
  readonly #operations = new LabelValues(100, 'anonymous');
  readonly #clients = new LabelValues(50, 'unknown');
  readonly #origins = new Map<string, () => OriginState>();
  readonly #limits = new Map<string, LimitState>();
  readonly #requests: Histogram<'operation' | 'outcome'>;
  readonly #firstParts: Histogram<'operation'>;
  readonly #errors: Counter<'code' | 'request_id' | 'trace_id'>;
  readonly #calls: Histogram<'operation' | 'status'>;
  readonly #retries: Counter<'operation' | 'after'>;
  readonly #coalesced: Counter<'operation'>;
  readonly #deprecated: Counter<'field' | 'operation' | 'client'>;
  readonly #refused: Counter<'reason' | 'status'>;
  readonly #droppedLines: Counter;

  constructor() {
    const registers = [this.#registry];
    const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
    this.#requests = new Histogram({
      name: 'petstore_graphql_request_duration_seconds',
      help: 'GraphQL requests by operation and by whether the result had errors.',
      labelNames: ['operation', 'outcome'],
      buckets,
      registers,
    });
    this.#firstParts = new Histogram({
      name: 'petstore_graphql_first_part_duration_seconds',
      help: 'Time to the first part of incremental GraphQL responses, by operation.',
      labelNames: ['operation'],
      buckets,
      registers,
    });
    this.#errors = new Counter({
      name: 'petstore_graphql_errors',
      help: 'Errors in GraphQL results by code.',
      labelNames: ['code'],
      enableExemplars: true,
      registers,
    });
    // The series must start at 0: Prometheus sees no increase in one that starts at 1.
    this.#errors.inc({ labels: { code: 'INTERNAL_SERVER_ERROR' }, value: 0 });
    this.#calls = new Histogram({
      name: 'petstore_rest_call_duration_seconds',
      help: 'REST calls by operation and by status or kind of failure, including retries.',
      labelNames: ['operation', 'status'],
      buckets,
      registers,
    });
    const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers });
    this.#retries = counter(
      'petstore_rest_retries',
      'Calls that were sent again, by what became of them before.',
      'operation',
      'after',
    );
    this.#coalesced = counter(
      'petstore_coalesced_reads',
      'Reads that joined an equal read in flight.',
      'operation',
    );
    this.#deprecated = counter(
      'petstore_graphql_deprecated_field_uses',
      'Uses of deprecated fields, by the operation and the client that still use them.',
      'field',
      'operation',
      'client',
    );
    this.#refused = counter(
      'petstore_requests_refused',
      'Requests that were refused due to load, by reason and HTTP status.',
      'reason',
      'status',
    );
    this.#droppedLines = counter('petstore_log_lines_dropped', 'Log lines that were dropped.');
    this.#gauge(
      'petstore_rest_circuit',
      '0 closed, 0.5 half open, 1 open.',
      ({ circuit }) => (circuit === 'closed' ? 0 : circuit === 'open' ? 1 : 0.5),
      'max',
    );
    this.#gauge(
      'petstore_rest_refused_keys',
      'API keys with an open circuit.',
      (state) => state.refusedKeys,
    );
    const limits = this.#limits;
    new Gauge({
      name: 'petstore_limit_used',
      help: 'What is in use now of each limit.',
      labelNames: ['limit'],
      registers,
      collect() {
        for (const [limit, { used }] of limits) this.set({ limit }, used);
      },
    });
    new Counter({
      name: 'petstore_limit_refused',
      help: 'How often each limit has refused, per key or for all keys together.',
      labelNames: ['limit', 'by'],
      registers,
      collect() {
        this.reset();
        for (const [limit, { refused }] of limits) {
          this.inc({ limit, by: 'key' }, refused.key);
          this.inc({ limit, by: 'all' }, refused.all);
        }
      },
    });
    collectDefaultMetrics({ register: this.#registry });
  }

  #gauge(
    name: string,
    help: string,
    measure: (state: OriginState) => number,
    aggregator: Aggregator = 'sum',
  ): void {
    const origins = this.#origins;
    new Gauge({
      name,
      help,
      labelNames: ['service'],
      registers: [this.#registry],
      aggregator,
      collect() {
        for (const [service, state] of origins) this.set({ service }, measure(state()));
      },
    });
  }

  /** Counts and times a GraphQL request, and counts its errors by code. */
  request(
    name: string | undefined,
    codes: readonly string[],
    seconds: number,
    ids: ExemplarIds,
    usedKey: boolean,
  ): void {
    const outcome = codes.length === 0 ? 'success' : 'error';
    // Only an operation that ran with an accepted key gets its own label.
    if (usedKey && codes.every(impliesAcceptedKey)) this.#operations.admit(name);
    this.#requests.observe({ operation: this.#operations.label(name), outcome }, seconds);
    for (const code of codes) {
      const exemplarLabels = { request_id: ids.requestId, trace_id: ids.traceId ?? '' };
      this.#errors.inc({ labels: { code }, value: 1, exemplarLabels });
    }
  }

  /** Records the time to the first part of a response. Call it after `request`. */
  firstPart(name: string | undefined, seconds: number): void {
    this.#firstParts.observe({ operation: this.#operations.label(name) }, seconds);
  }

  /** Counts and times a REST call by its HTTP status, or the kind of its failure. */
  restCall(operation: string, outcome: number | string, seconds: number): void {
    this.#calls.observe({ operation, status: String(outcome) }, seconds);
  }

  retry(operation: string, after: string): void {
    this.#retries.inc({ operation, after });
  }

  coalesced(operation: string): void {
    this.#coalesced.inc({ operation });
  }

  /** Counts a use of a deprecated field. Only clients with an accepted key get their own label. */
  deprecatedUse(
    field: string,
    name: string | undefined,
    client: string | undefined,
    keyAccepted: boolean,
  ): void {
    if (keyAccepted) this.#clients.admit(client);
    const labels = { operation: this.#operations.label(name), client: this.#clients.label(client) };
    this.#deprecated.inc({ field, ...labels });
  }

  /** Counts a request that was refused due to load. A count of 0 lets the series start at 0. */
  refused(reason: string, status: number, count = 1): void {
    this.#refused.inc({ reason, status }, count);
  }

  /** Counts a log line that was not written. */
  readonly logLineDropped = (): void => this.#droppedLines.inc();

  /** Adds the state of an origin to every scrape, under a name instead of its address. */
  watchOrigin(service: string, state: () => OriginState): void {
    this.#origins.set(service, state);
  }

  /** Adds the state of a limit to every scrape. */
  watchLimit(limit: LimitState): void {
    this.#limits.set(limit.name, limit);
  }

  /** Returns all metrics as data. */
  async snapshot(): Promise<MetricsSnapshot> {
    const metrics = await this.#registry.getMetricsAsJSON();
    // The text format appends `_total` to counters, and the default metrics already end with it.
    return metrics.map((metric) => ({ ...metric, name: metric.name.replace(/_total$/, '') }));
  }

  /** Returns all metrics in the OpenMetrics text format. */
  async scrape(): Promise<Scrape> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

/** Whether a backend returns this error only after it has accepted the key. */
function impliesAcceptedKey(code: string): boolean {
  return code === 'NOT_FOUND' || code === 'CONFLICT' || code === 'BAD_USER_INPUT';
}
