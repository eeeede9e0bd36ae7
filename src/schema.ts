import './node-version.ts';
import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { openPetStore } from './backends/open.ts';
import { type Config, warnOfUnknown } from './config/config.ts';
import { createContext, type GatewayContext } from './graphql/context.ts';
import { typedError } from './graphql/errors.ts';
import { createCors } from './http/cors.ts';
import { HttpError } from './http/error.ts';
import { graphqlErrorResponse } from './http/error-response.ts';
import { readBody, readHead, toFetchResponse } from './http/fetch.ts';
import { checkHost } from './http/host.ts';
import { createRefuse } from './http/refuse.ts';
import { openGate } from './request/admission.ts';
import { setDeadline, timeoutHeader } from './request/deadline.ts';
import { pickHeaders } from './request/forwarded-headers.ts';
import { createEnvironment } from './request/request-environment.ts';
import { RequestRecord } from './request/request-record.ts';
import { createLog } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { openTracing } from './telemetry/tracing.ts';
import { checkKey } from './yoga/check-key.ts';
import { readParams } from './yoga/params.ts';
import { PreparedDocument } from './yoga/prepared-document.ts';
import { writeBounded } from './yoga/result.ts';
import { useBoundedValidation } from './yoga/use-bounded-validation.ts';
import { useOperationLimits } from './yoga/use-operation-limits.ts';

export { type Config, ConfigError, loadConfig } from './config/config.ts';
export { ErrorResponse } from './contract/error.ts';
export { addPetStore, type PetStoreRefs } from './graphql/add-pet-store.ts';
export type { GatewayContext as PetStoreContext } from './graphql/context.ts';
export type { PathParameters, RestCalls } from './graphql/rest-calls.ts';

/**
 * Opens the backend, and returns the plugin for a Yoga server with the types of `addPetStore`. It sets
 * `context.petStore`; reads, executes and answers requests with the gateway's limits, exact numbers
 * and typed errors; and closes the backend with the server (`yoga.dispose()`).
 * @throws if the backend can't be opened.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the hooks of one plugin share the records of requests.
export async function usePetStore(config: Config): Promise<Plugin<GatewayContext>> {
  const { corsOrigins, forwardHeaders = [], maxTimeoutMs, onlyLoopbackHosts } = config;
  const log = createLog(config.logLevel, process.stderr);
  warnOfUnknown(config, log);
  const metrics = new Metrics();
  const telemetry = { log, metrics, tracing: await openTracing(config.otlpEndpoint, log, config) };
  const environment = createEnvironment(telemetry);
  const petStore = await openPetStore(config.backend, telemetry, environment.keys);
  const gate = openGate();
  const refuse = createRefuse(telemetry);
  const cors = createCors(corsOrigins);
  const limits = useOperationLimits(config.operationLimits);
  const execution = { introspection: config.introspection, options: { maxCoercionErrors: 1 } };
  const schemas = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, PreparedDocument>>();
  const records = new WeakMap<Request, RequestRecord>();

  /** Logs an error unless it is expected, and returns the one to respond with. */
  function fail(error: unknown, record: RequestRecord): HttpError {
    const refusal = refuse(error, record.requestId);
    record.codes.push(refusal.code);
    record.status = refusal.status;
    return refusal;
  }

  /** Types each error, unless that is done. */
  function typeErrors(
    { errors, ...rest }: ExecutionResult,
    record: RequestRecord,
  ): ExecutionResult {
    const report = (cause: unknown) => void refuse(cause, record.requestId);
    const typed = errors?.map((error) => {
      if (error instanceof TypedGraphQLError) return error;
      const { nodes, source, positions } = error;
      const { message, path, extensions } = typedError(error, record, report);
      record.codes.push(extensions.code);
      const status = extensions.code === 'INTERNAL_SERVER_ERROR' ? 500 : 400;
      const http = error.extensions['http'] ?? (!path && { spec: status === 400, status });
      const shown = { ...extensions, ...(http && { http }) };
      return new TypedGraphQLError(message, { nodes, source, positions, path, extensions: shown });
    });
    return { ...(typed && { errors: typed }), ...rest };
  }

  return {
    ...useBoundedValidation(config.introspection),
    instrumentation: {
      async request({ request }, wrapped) {
        const record = new RequestRecord(environment, readHead(request, forwardHeaders));
        record.follow(request);
        records.set(request, record);
        try {
          checkHost(record.headers.host, onlyLoopbackHosts);
          gate.admit(record);
          await wrapped();
        } catch (error) {
          // The server responds with its stack, or else its message.
          throw Object.assign(fail(error, record), { stack: '' });
        } finally {
          record.end();
        }
      },
    },
    onRequestParse({ request, setRequestParser }) {
      const record = records.get(request) as RequestRecord;
      // Yoga may pass on another request, whose body it limits.
      setRequestParser(async (limited) => {
        try {
          await readBody(limited, record);
          const params = readParams(record) as GraphQLParams;
          setDeadline(record, timeoutHeader, record.headers[timeoutHeader], maxTimeoutMs);
          record.forwarded = pickHeaders(forwardHeaders, record);
          return params;
        } catch (error) {
          const refusal = graphqlErrorResponse(fail(error, record), record, record.requestId);
          return toFetchResponse(refusal, record.method);
        }
      });
    },
    onParse(hook) {
      limits.onParse?.(hook);
      return ({ result, replaceParseResult }) => {
        if (!(result instanceof HttpError)) return;
        // Yoga would mask it.
        const { status, code, message } = result;
        replaceParseResult(new GraphQLError(message, { extensions: { code, http: { status } } }));
      };
    },
    onContextBuilding({ context, extendContext }) {
      const record = records.get(context.request);
      if (!record) return;
      extendContext(createContext(record, petStore, { hasEqualReads: true, isExplained: false }));
    },
    onExecute({ args: { schema, document, operationName, contextValue }, setExecuteFn }) {
      // A server may have several schemas, for which Yoga parses a text once.
      const documents = schemas.get(schema) ?? new WeakMap<DocumentNode, PreparedDocument>();
      schemas.set(schema, documents);
      const prepared =
        documents.get(document) ?? new PreparedDocument({ schema, document, ...execution });
      documents.set(document, prepared);
      const operation = prepared.find(operationName ?? undefined);
      const record = records.get(contextValue.request);
      if (!record || !operation) return undefined;
      const { label, deprecations, needsKey } = operation;
      record.operation = label;
      setExecuteFn(({ variableValues, contextValue: context }) => {
        const execute = () => operation.execute(variableValues ?? {}, context);
        if (!needsKey) return execute();
        return checkKey(context.petStore).then((error) =>
          error ? { errors: [error] } : execute(),
        );
      });
      return {
        onExecuteDone({ result, setResult }) {
          const typed = typeErrors(result as ExecutionResult, record);
          const isListed = deprecations.length > 0 && 'data' in typed;
          setResult({ ...typed, ...(isListed && { extensions: { deprecations } }) });
        },
      };
    },
    onResultProcess({ request, result, setResult }) {
      const record = records.get(request);
      if (!record || Symbol.asyncIterator in result || Array.isArray(result)) return;
      const stringify = ({ errors, data, extensions }: ExecutionResult) =>
        writeBounded({ errors, data, extensions } as object, record);
      setResult({ ...typeErrors(result, record), stringify });
    },
    onResponse({ request, response: { headers, status } }) {
      const record = records.get(request) as RequestRecord;
      record.status = status;
      // Those of Yoga allow every origin, with credentials.
      const isOfCors = (name: string) => name.startsWith('access-control-');
      for (const name of [...headers.keys()].filter(isOfCors)) headers.delete(name);
      const own = record.method === 'OPTIONS' ? cors.preflight(record)?.headers : undefined;
      const added = { ...own, 'x-request-id': record.requestId };
      if (corsOrigins.length > 0) cors.addHeaders(record, { headers: added });
      for (const [name, value] of Object.entries(added)) headers.set(name, value);
    },
    async onDispose() {
      await gate.close();
      await Promise.all([petStore, telemetry.tracing].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/** An error with its code and the id of the request. */
class TypedGraphQLError extends GraphQLError {}
