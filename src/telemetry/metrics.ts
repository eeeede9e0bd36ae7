import {
  type Aggregator,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type OpenMetricsContentType,
  Registry,
} from '@prometheus-io/client';

/** What is used of a limit, and how often its part of a key, of all keys and of unknown keys has refused. */
export interface LimitState {
  readonly name: string;
  readonly used: number;
  readonly refused: Readonly<Record<'key' | 'all' | 'unknown', number>>;
}

/** The upper bounds of the buckets of durations, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Labels the first `max` values as they are, others as `other`, and a missing one as `absent`. */
export function createLabels(max: number, absent: string) {
  const values = new Set<string>();
  /** Returns the label of a value; without `admits`, a new value does not get its own. */
  return (value: string | undefined, admits = true): string => {
    if (value === undefined) return absent;
    if (admits && values.size < max) values.add(value);
    return values.has(value) ? value : 'other';
  };
}

/** The metrics of the gateway. No client can make them grow: label values are bounded in number. */
export class Metrics {
  // The OpenMetrics format, because the older text format has no exemplars.
  readonly registry = new Registry<OpenMetricsContentType>(Registry.OPENMETRICS_CONTENT_TYPE);
  readonly #limits: LimitState[] = [];

  readonly operationLabel = createLabels(100, 'anonymous');
  readonly clientLabel = createLabels(50, 'unknown');

  readonly requests = this.#histogram(
    'petstore_graphql_request_duration_seconds',
    'GraphQL requests by operation and by whether the result had errors.',
    ['operation', 'outcome'],
  );
  readonly overhead = new Histogram({
    name: 'petstore_gateway_overhead_seconds',
    help: 'Time of GraphQL requests with REST calls in which none of these was in flight.',
    buckets: [0.000_1, 0.000_25, 0.000_5, ...buckets],
    registers: [this.registry],
  });
  readonly firstParts = this.#histogram(
    'petstore_graphql_first_part_duration_seconds',
    'Time to the first part of incremental GraphQL responses, by operation.',
    ['operation'],
  );
  readonly errors = new Counter<'code' | 'request_id' | 'trace_id'>({
    name: 'petstore_graphql_errors',
    help: 'Errors in GraphQL results by code.',
    labelNames: ['code'],
    enableExemplars: true,
    registers: [this.registry],
  });
  readonly restCalls = this.#histogram(
    'petstore_rest_call_duration_seconds',
    'REST calls by operation and by status or kind of failure, including retries.',
    ['operation', 'status'],
  );
  readonly v1Requests = this.#histogram(
    'petstore_v1_request_duration_seconds',
    'Requests to the REST interface of the built-in backend, by operation and status.',
    ['operation', 'status'],
  );
  readonly databaseQueries = this.#histogram(
    'petstore_database_query_duration_seconds',
    'Queries of the built-in backend by operation, with the wait for a connection or a lock.',
    ['operation'],
  );
  readonly databaseConnections = this.#gauge(
    'petstore_database_connections',
    'Connections to PostgreSQL by state: used or idle.',
    ['state'],
  );
  readonly waitingQueries = this.#gauge(
    'petstore_database_waiting_queries',
    'Queries that wait for a connection to PostgreSQL.',
  );
  readonly circuits = this.#gauge(
    'petstore_rest_circuit',
    '0 closed, 0.5 half open, 1 open.',
    ['service'],
    'max',
  );
  readonly refusedKeys = this.#gauge(
    'petstore_rest_refused_keys',
    'API keys with an open circuit.',
    ['service'],
  );
  readonly reloadSuccess = this.#gauge(
    'petstore_config_reload_success',
    'Whether the configuration could be read, at the start or the last SIGHUP.',
    [],
    'min',
  );
  readonly connections = this.#gauge('petstore_connections', 'Open connections.');
  readonly #limitsUsed = this.#gauge('petstore_limit_used', 'Use of each limit.', ['limit']);
  readonly retries = this.#counter(
    'petstore_rest_retries',
    'Calls that were retried, by the outcome of the attempt before.',
    ['operation', 'after'],
  );
  readonly replays = this.#counter(
    'petstore_idempotent_replays',
    'Requests with a write that was not done again, because an earlier one with its Idempotency-Key did it.',
  );
  readonly forgottenWrites = this.#counter(
    'petstore_idempotency_evictions',
    'Writes with an Idempotency-Key that were forgotten within 24 hours, because their memory was full.',
  );
  readonly coalescedReads = this.#counter(
    'petstore_coalesced_reads',
    'Reads that joined an equal read in flight.',
    ['operation'],
  );
  readonly deprecatedFieldUses = this.#counter(
    'petstore_graphql_deprecated_field_uses',
    'Uses of deprecated fields, by the operation and the client that still use them.',
    ['field', 'operation', 'client'],
  );
  readonly documents = this.#counter(
    'petstore_graphql_documents',
    'Documents that were executed for accepted keys, by whether they are from the manifest or were sent.',
    ['source', 'operation', 'client'],
  );
  readonly #refusedRequests = this.#counter(
    'petstore_requests_refused',
    'Requests that were refused due to load, by reason and HTTP status.',
    ['reason', 'status'],
  );
  readonly refusedConnections = this.#counter(
    'petstore_connections_refused',
    'Connections that were closed on arrival, because too many were open.',
  );
  readonly displacedConnections = this.#counter(
    'petstore_connections_displaced',
    'Idle, silent or slow connections that were closed to make room for new ones.',
  );
  readonly droppedLogLines = this.#counter('petstore_log_lines_dropped', 'Dropped log lines.');
  readonly rateLimitStoreErrors = this.#counter(
    'petstore_rate_limit_store_errors',
    'Requests to the store of rate limits, and connections to it, that failed or took too long.',
  );
  readonly idempotencyStoreErrors = this.#counter(
    'petstore_idempotency_store_errors',
    'Requests to the store of writes, and connections to it, that failed or took too long.',
  );

  constructor() {
    // The series must start at 0: Prometheus sees no increase in one that starts at 1.
    this.errors.inc({ labels: { code: 'INTERNAL_SERVER_ERROR' }, value: 0 });
    const limits = this.#limits;
    new Counter({
      name: 'petstore_limit_refused',
      help: 'Refusals by each limit: per key, for all keys together, or for unknown keys.',
      labelNames: ['limit', 'by'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { name: limit, refused } of limits) {
          for (const [by, count] of Object.entries(refused)) this.inc({ limit, by }, count);
        }
      },
    });
    collectDefaultMetrics({ register: this.registry });
    // OpenMetrics appends `_total`, also to the counters of all workers together.
    for (const metric of this.registry.getMetricsAsArray()) {
      if (metric instanceof Counter) metric.name = metric.name.replace(/_total$/, '');
    }
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[]) {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  /** Adds a gauge that is read at each scrape. Workers' values are summed, or the highest or lowest is kept. */
  #gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
    aggregator: Aggregator = 'sum',
  ) {
    const values: [Readonly<Record<Label, string>>, () => number][] = [];
    const collect = () => {
      gauge.reset();
      for (const [labels, read] of values) gauge.inc(labels, read());
    };
    const registers = [this.registry];
    const options = { name, help, labelNames, registers, aggregator, collect };
    const gauge: Gauge<string> = new Gauge<string>(options);
    return (...value: (typeof values)[number]) => void values.push(value);
  }

  #counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Counts a request that was refused due to load. A count of 0 lets the series start at 0. */
  refused(reason: string, status: number, count = 1): void {
    this.#refusedRequests.inc({ reason, status }, count);
  }

  watchLimit(limit: LimitState): void {
    this.#limits.push(limit);
    this.#limitsUsed({ limit: limit.name }, () => limit.used);
  }

  watchRateLimitStore(isUp: () => boolean): void {
    const help = '1 if the store of rate limits is in use, 0 if each process limits alone.';
    this.#gauge('petstore_rate_limit_store_up', help, [], 'min')({}, () => Number(isUp()));
  }

  watchReady(isReady: () => boolean): void {
    const help =
      '1 if the backend responded to the latest check of /readyz or a scrape, otherwise 0, as before the first.';
    this.#gauge('petstore_ready', help, [], 'max')({}, () => Number(isReady()));
  }

  /** Returns all metrics in the OpenMetrics text format. */
  async scrape() {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }
}
