import { randomUUID } from 'node:crypto';
import { RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createV1 } from '../v1/routes.ts';
import { problem, redirect } from './answers.ts';
import { createCors } from './cors.ts';
import type { Health } from './health.ts';
import { createJsonPost } from './json-post.ts';
import type { PlainAnswer } from './result.ts';
import { openYoga, type YogaOptions } from './yoga.ts';

/** What a gateway serves, and from where. */
export interface GatewayOptions extends YogaOptions {
  readonly telemetry: Telemetry;
  readonly health: Health;
  /** The origins whose pages may call the gateway from a browser. */
  readonly corsOrigins: readonly string[];
  /** Serve the store's REST interface too, at `/v1` and `/quickstart`. */
  readonly v1: boolean;
}

/** Answers requests to every address of the gateway. Never throws. */
export interface Gateway {
  (request: Request): Promise<Response>;
  /** The short way for the text of a JSON body that was posted to `/graphql`, where it is plain. */
  readonly post?: (
    text: string,
    headers: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
  ) => Promise<PlainAnswer> | undefined;
}

/** Builds the gateway: GraphQL, GraphiQL, health and, if asked for, the REST interface. */
export function createGateway(options: GatewayOptions): Gateway {
  const { petStore, health, telemetry } = options;
  const reportError = (error: unknown, requestId: string) =>
    telemetry.log.error({ err: error, requestId }, 'unexpected error');
  const yoga = openYoga(options, reportError);
  // The short way takes the text of any document.
  const takesText = options.persistedDocuments.mode !== 'only';
  const answerJsonPost = takesText ? createJsonPost(yoga, petStore, reportError) : undefined;
  const v1 = options.v1 && createV1({ petStore, demoKey: options.demoKey, reportError });
  const cors = createCors(options.corsOrigins);

  function begin(id: string | null | undefined, traceparent: string | null | undefined) {
    return new RequestRecord(readRequestId(id), telemetry.tracing.startRequest(traceparent));
  }

  async function route(request: Request, path: string, record: RequestRecord): Promise<Response> {
    const { requestId, observe } = record;
    if (options.mounted || path === '/graphql') {
      const { headers, signal } = request;
      const authorization = headers.get('authorization');
      return yoga.handleRequest(request, { requestId, record, authorization, signal });
    }
    if (v1 && /^\/(?:v1|quickstart)\//.test(path)) return v1(request, { requestId, observe });
    if (path !== '/') return problem(404, 'Nothing is here. GraphQL is at /graphql.');
    if (request.method === 'GET' || request.method === 'HEAD') return redirect('/graphql');
    return problem(405, `Expected GET, received ${request.method}. GraphQL is at /graphql.`);
  }

  async function handle(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const healthy = health(request, path);
    if (healthy !== undefined) return healthy;
    const { headers, method } = request;
    const record = begin(headers.get('x-request-id'), headers.get('traceparent'));
    const response = cors.preflight(request) ?? (await route(request, path, record));
    for (const [name, value] of Object.entries(cors.headersFor(headers.get('origin')))) {
      response.headers.append(name, value);
    }
    response.headers.set('x-request-id', record.requestId);
    tell(telemetry, record, method, path, response.status);
    return response;
  }

  const post: Gateway['post'] = (text, headers, signal) => {
    let record: RequestRecord | undefined;
    const answer = answerJsonPost?.(text, headers['accept'] ?? null, () => {
      record = begin(headers['x-request-id'], headers['traceparent']);
      const authorization = headers['authorization'] ?? null;
      return { requestId: record.requestId, record, authorization, signal };
    });
    return answer?.then((plain) => {
      Object.assign(plain.headers, cors.headersFor(headers['origin']));
      plain.headers['x-request-id'] = record?.requestId ?? '';
      if (record) tell(telemetry, record, 'POST', '/graphql', plain.status);
      return plain;
    });
  };

  return Object.assign(handle, { post });
}

/** What the log tells of a path, which is the client's. */
const maxPathLength = 256;

/** Tells the log, the metrics and the trace how a request ended, under ids that join the three. */
function tell(
  { log, metrics }: Telemetry,
  record: RequestRecord,
  method: string,
  path: string,
  status: number,
): void {
  const { requestId, trace, operation, codes, calls } = record;
  const { traceId } = trace;
  const ms = record.elapsedMs();
  const isGraphql = operation !== undefined || codes.length > 0;
  if (isGraphql) {
    metrics.request(operation?.name, codes, ms / 1000, { requestId, traceId }, record.usedKey);
  }
  // After the request, which may have earned its operation's name a label.
  for (const field of record.deprecatedFields) metrics.deprecatedUse(field, operation?.name);
  const name = operation
    ? `${operation.type} ${operation.name ?? ''}`.trim()
    : `${method} ${path.slice(0, maxPathLength)}`;
  trace.end({ name, method, status, requestId, codes });
  log.request({ requestId, traceId, operation: name, status, codes, ms, calls });
}

/** A request's own id if it is short and plain enough for logs and headers, else a new one. */
function readRequestId(given: string | null | undefined): string {
  return given && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID();
}
