import { createHmac } from 'node:crypto';
import { decodeMessage, decodePet, encodePet } from '../../contract/codec.ts';
import { driftOf } from '../../contract/drift.ts';
import { ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import type { Int64 } from '../../contract/int64.ts';
import type { JsonText } from '../../contract/json.ts';
import {
  type Call,
  type ListPetsQuery,
  type Operation,
  type OperationId,
  operations,
  type PetStore,
  type RestRequest,
} from '../../contract/pet-store.ts';
import { readPets } from '../../contract/pets-text.ts';
import type { NewPet } from '../../contract/records.ts';
import { readJson, readJsonText } from '../../contract/response-json.ts';
import { nextSlice, sliceBytes } from '../../limits/slices.ts';
import { createLabels } from '../../telemetry/label-values.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { readTlsFiles, type TlsFiles } from '../../tls-files.ts';
import { ConnectionFailed } from './connections.ts';
import { createDriftReport } from './drift-report.ts';
import { defaultLimits, type OriginLimits, openOrigin } from './origin.ts';
import { consequencesOf, toError } from './outcome.ts';
import { type ProxyOptions, proxyOf } from './proxy.ts';
import { readError, readText } from './response.ts';
import { createSend, type Send } from './send-with-retry.ts';

/** Options of the REST backend. */
export interface RestPetStoreOptions extends TlsFiles, ProxyOptions {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  /** The base URL of `POST /messages`; if undefined, messages cannot be sent. */
  readonly messagesBaseUrl: URL | undefined;
  /** Deadline of one call, including retries, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits?: Partial<OriginLimits>;
  /** Whether the log and traces show a hash of the API key, for which the secret is required. */
  readonly logCredential?: 'off' | 'hash';
  readonly logCredentialSecret?: string | undefined;
}

/** What a request has beside the path of its operation. */
interface Parameters {
  /** Replaces the name in the path. */
  readonly parameter?: string;
  readonly search?: string;
  readonly json?: object;
}

/** Passes on the JSON of a success, and counts how it differs from the contract. */
type Inspect = (json: unknown) => unknown;

/** Reads the text of a body. The key is that of the call. */
type Read<T> = (text: string, inspect: Inspect, key: number) => T | Promise<T>;

/** Opens the REST service as a `PetStore`. Connects on the first call. @throws as `readTlsFiles` does. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the methods share the way of every call.
export function openRestPetStore(
  options: RestPetStoreOptions,
  telemetry: Pick<Telemetry, 'log' | 'metrics'>,
): PetStore & { reload(files: TlsFiles): void } {
  const { log, metrics } = telemetry;
  const { baseUrl, messagesBaseUrl, timeoutMs } = options;
  const hashSecret = options.logCredential === 'hash' ? options.logCredentialSecret : undefined;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, so 5 s of the default 10 s. Slower writes need a longer deadline.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const tls = readTlsFiles('UPSTREAM', options);
  const open = (service: string, url: URL) =>
    openOrigin(service, url.origin, proxyOf(url, options), tls, limits, telemetry);
  const petsOrigin = open('pets', baseUrl);
  const isShared = messagesBaseUrl === undefined || messagesBaseUrl.origin === baseUrl.origin;
  const messagesOrigin = isShared ? petsOrigin : open('messages', messagesBaseUrl);
  const senders: Readonly<Record<Operation['service'], Send>> = {
    pets: createSend(petsOrigin, baseUrl, timeoutMs, metrics),
    messages: messagesBaseUrl
      ? createSend(messagesOrigin, messagesBaseUrl, timeoutMs, metrics)
      : async () => ({ why: 'notConfigured' }),
  };

  const reportDrift = createDriftReport(telemetry);

  /** Creates the method of an operation. `describe` returns what its request has beside the path. */
  function method<Value, Result>(
    operation: OperationId,
    read: Read<Result>,
    describe: (value: Value) => Parameters,
  ) {
    const declared = operations[operation];
    const { method, path: template } = declared;
    return (call: Call, value: Value) => {
      const { parameter = '', search = '', json } = describe(value);
      const path = template.replace(/\{\w+\}/, parameter) + search;
      const body = json && JSON.stringify(json);
      return callPath(declared, call, { operation, method, path, template, body }, read);
    };
  }

  async function callPath<T>(
    declared: Omit<Operation, 'method' | 'path' | 'field'>,
    call: Call,
    request: RestRequest,
    read: Read<T>,
  ): Promise<T> {
    const { operation, method } = request;
    const { observer } = call;
    if (hashSecret !== undefined && observer && !observer.caller) {
      const hash = createHmac('sha256', hashSecret).update(call.apiKey).digest('hex');
      observer.caller = { credential: hash.slice(0, 12) };
    }
    const start = performance.now();
    const url = declared.service === 'pets' ? baseUrl : messagesBaseUrl;
    const observation = observer?.observe(request, url);
    let outcome = await senders[declared.service](call, request, observation);
    const response = outcome.why === undefined ? outcome : undefined;
    try {
      if (response && response.status >= 200 && response.status <= 299) {
        const { status = response.status } = declared;
        if (response.status !== status) {
          reportDrift(call, operation, [{ kind: 'status', field: String(response.status) }]);
        }
        const inspect = (json: unknown) => {
          reportDrift(call, operation, driftOf(declared, json));
          return json;
        };
        if (response.body.byteLength > sliceBytes) await nextSlice(call.key);
        return await read(readText(response), inspect, call.key);
      }
    } catch (error) {
      if (!(error instanceof InvalidResponseError) || !response) throw error;
      const { message: problem, cause } = error;
      outcome = { why: 'invalid', status: response.status, problem, cause };
    } finally {
      const ms = performance.now() - start;
      const label = outcome.why === undefined ? outcome.status : consequencesOf(outcome).label;
      metrics.restCalls.observe({ operation, status: label }, ms / 1000);
      if (observation && response) {
        observation.status = response.status;
        observation.bytes = response.body.byteLength;
      }
      observation?.end(label, ms);
      // The response to the request may still refer to the body.
      const releaseBody = response?.releaseBody;
      if (releaseBody && call.scope?.disposed === false) call.scope.defer(releaseBody);
      else releaseBody?.();
    }
    const error =
      outcome.why === undefined
        ? readError(outcome, call.apiKey)
        : toError(outcome, method === 'POST');
    const { isLogged, kind } = consequencesOf(outcome);
    if (isLogged) logFailure(log, call, operation, kind, error);
    throw error;
  }

  const otherPath = createLabels(100, '');
  return {
    listPets: method('listPets', readPets, describePage),
    createPet: method('createPet', readPet, (pet: NewPet) => ({ json: encodePet(pet) })),
    getPet: method('getPet', readPet, (petId: Int64) => ({ parameter: petId })),
    listOrders: method<void, JsonText>('listOrders', readAny, () => ({})),
    sendMessage: method('sendMessage', readMessage, (message: string) => ({ json: { message } })),
    send(call, request) {
      const operation = otherPath(request.operation);
      const read = request.method === 'GET' ? readAny : readWritten;
      return callPath({ service: 'pets' }, call, { ...request, operation }, read);
    },
    async checkReady() {
      const outcome = await petsOrigin.checkReady();
      if (outcome === undefined) return;
      const error = toError(outcome, false);
      logFailure(log, { requestId: 'readyz' }, 'checkReady', consequencesOf(outcome).kind, error);
      throw error;
    },
    reload(files) {
      const next = readTlsFiles('UPSTREAM', files);
      for (const origin of [petsOrigin, messagesOrigin]) origin.setTls(next);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([petsOrigin, messagesOrigin].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

const readAny: Read<JsonText> = (text, _, key) => readJsonText(text, () => nextSlice(key));
/** Reads the body of the response to a POST; an empty one, as of a 204, is null. */
const readWritten: Read<JsonText> = (text, ...rest) => readAny(text || 'null', ...rest);
const readPet = (text: string, inspect: Inspect) => decodePet(inspect(readJson(text)));
const readMessage = (text: string, inspect: Inspect) => decodeMessage(inspect(readJson(text)));

/** Returns the query string. The values need no escaping. */
function describePage({ limit, status }: ListPetsQuery): Parameters {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return { search: parameters.length === 0 ? '' : `?${parameters.join('&')}` };
}

/**
 * Logs a failed call. Of the cause, logs only the name and code, because the message may contain an
 * address. `clientLeft`: nobody received the error.
 */
function logFailure(
  log: Log,
  { requestId, signal }: Pick<Call, 'requestId' | 'signal'>,
  operation: string,
  outcome: string,
  error: Error,
): void {
  const { message: reason, cause } = error;
  const deepest = cause instanceof ConnectionFailed ? cause.cause : cause;
  const { name, code } = (deepest ?? {}) as NodeJS.ErrnoException;
  const details = { reason, causeName: name, causeCode: code };
  const { status, hidden }: Partial<ErrorResponse> = error instanceof ErrorResponse ? error : {};
  // Shortened, so that the line fits into an atomic write to a pipe.
  const body = { code: hidden?.code.slice(0, 100), message: hidden?.message.slice(0, 500) };
  const client = signal?.aborted && { clientLeft: true };
  const entry = { requestId, operation, outcome, ...client, ...details, ...body, status };
  log.warn(entry, 'REST call failed');
}
