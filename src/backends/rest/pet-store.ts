import { decodeMessage, decodePet, encodePet } from '../../contract/codec.ts';
import { ErrorResponse, InvalidResponseError } from '../../contract/error.ts';
import {
  type Call,
  type ListPetsQuery,
  type Operation,
  type OperationId,
  operations,
  type PetStore,
} from '../../contract/pet-store.ts';
import { readPets } from '../../contract/pets-text.ts';
import { readJson, readJsonText } from '../../contract/response-json.ts';
import { nextSlice, sliceBytes } from '../../limits/slices.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { ConnectionFailed, createConnector } from './connections.ts';
import { defaultLimits, type Origin, type OriginLimits, openOrigin } from './origin.ts';
import { consequencesOf, type Outcome, toError } from './outcome.ts';
import { type ProxyOptions, proxyOf } from './proxy.ts';
import { readError, readText } from './response.ts';
import { createSend, type Send } from './send-with-retry.ts';
import { readTlsFiles, type TlsFiles } from './tls-files.ts';

/** Options of the REST backend. */
export interface RestPetStoreOptions extends TlsFiles, ProxyOptions {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  /** The base URL of `POST /messages`; if undefined, messages cannot be sent. */
  readonly messagesBaseUrl: URL | undefined;
  /** Deadline of one call, including retries, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits?: Partial<OriginLimits>;
}

/** What a request has beside the path of its operation. */
interface Parameters {
  /** Replaces the name in the path. */
  readonly parameter?: string;
  readonly search?: string;
  readonly json?: object;
}

/** Opens the REST service as a `PetStore`. Connects on the first call. @throws as `readTlsFiles` does. */
export function openRestPetStore(
  options: RestPetStoreOptions,
  telemetry: Pick<Telemetry, 'log' | 'metrics'>,
): PetStore {
  const { log, metrics } = telemetry;
  const { baseUrl, messagesBaseUrl, timeoutMs } = options;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, so 5 s of the default 10 s. Slower writes need a longer deadline.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const tls = readTlsFiles(options);
  const open = (service: string, url: URL) => {
    const connect = createConnector(limits.connectTimeoutMs, tls, proxyOf(url, options));
    return openOrigin(service, url.origin, connect, limits, telemetry);
  };
  const petsOrigin = open('pets', baseUrl);
  const isShared = messagesBaseUrl === undefined || messagesBaseUrl.origin === baseUrl.origin;
  const messagesOrigin = isShared ? petsOrigin : open('messages', messagesBaseUrl);
  const senderTo = (origin: Origin, url: URL) =>
    createSend(origin, url, proxyOf(url, options), timeoutMs, metrics);
  const senders: Readonly<Record<Operation['service'], Send>> = {
    pets: senderTo(petsOrigin, baseUrl),
    messages: messagesBaseUrl
      ? senderTo(messagesOrigin, messagesBaseUrl)
      : async () => ({ kind: 'notSent', why: 'notConfigured' }),
  };

  async function callService<T>(
    operation: OperationId,
    call: Call,
    read: (text: string, pause: () => Promise<void>) => T | Promise<T>,
    { parameter = '', search = '', json }: Parameters = {},
  ): Promise<T> {
    const { method, path, service } = operations[operation];
    const observation = call.observer?.observe(operation);
    const start = performance.now();
    const request = {
      operation,
      method,
      path: path.replace(/\{\w+\}/, parameter) + search,
      ...(json && { body: JSON.stringify(json) }),
    };
    let outcome = await senders[service](call, request, observation);
    const response = outcome.kind === 'responded' ? outcome : undefined;
    try {
      if (outcome.kind === 'responded' && outcome.status >= 200 && outcome.status <= 299) {
        const pause = () => nextSlice(call.key);
        if (outcome.body.byteLength > sliceBytes) await pause();
        return await read(readText(outcome), pause);
      }
    } catch (error) {
      if (!(error instanceof InvalidResponseError) || outcome.kind !== 'responded') throw error;
      const { message: problem, cause } = error;
      outcome = { kind: 'invalid', status: outcome.status, problem, cause };
    } finally {
      const ms = performance.now() - start;
      const label = outcome.kind === 'responded' ? outcome.status : consequencesOf(outcome).label;
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
      outcome.kind === 'responded'
        ? readError(outcome, call.apiKey)
        : toError(outcome, method === 'POST');
    if (consequencesOf(outcome).isLogged) logFailure(log, call, operation, outcome.kind, error);
    throw error;
  }

  return {
    listPets: (call, query) =>
      callService('listPets', call, readPets, { search: formatSearch(query) }),
    createPet: (call, pet) => callService('createPet', call, readPet, { json: encodePet(pet) }),
    getPet: (call, petId) => callService('getPet', call, readPet, { parameter: petId }),
    listOrders: (call) => callService('listOrders', call, readJsonText),
    sendMessage: (call, message) =>
      callService('sendMessage', call, readMessage, { json: { message } }),
    async checkReady() {
      const outcome = await petsOrigin.checkReady();
      if (outcome === undefined) return;
      const error = toError(outcome, false);
      logFailure(log, { requestId: 'readyz' }, 'checkReady', outcome.kind, error);
      throw error;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([petsOrigin, messagesOrigin].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

const readPet = (text: string) => decodePet(readJson(text));
const readMessage = (text: string) => decodeMessage(readJson(text));

/** Formats the query string. The values need no escaping. */
function formatSearch({ limit, status }: ListPetsQuery): string {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

/**
 * Logs a failed call. Of the cause, logs only the name and code, because the message may contain an
 * address; of a rejected certificate, the subject. `clientLeft`: nobody received the
 * error.
 */
function logFailure(
  log: Log,
  { requestId, signal }: Pick<Call, 'requestId' | 'signal'>,
  operation: string,
  outcome: Outcome['kind'],
  error: Error,
): void {
  const { message: reason, cause } = error;
  const connection = cause instanceof ConnectionFailed ? cause : undefined;
  const { name, code } = (connection?.cause ?? cause ?? {}) as NodeJS.ErrnoException;
  const certificateSubject = connection?.certificateSubject;
  const details = { reason, causeName: name, causeCode: code, certificateSubject };
  const { status, hidden }: Partial<ErrorResponse> = error instanceof ErrorResponse ? error : {};
  // Shortened, so that the line fits into an atomic write to a pipe.
  const body = { code: hidden?.code.slice(0, 100), message: hidden?.message.slice(0, 500) };
  const client = signal?.aborted && { clientLeft: true };
  const entry = { requestId, operation, outcome, ...client, ...details, ...body, status };
  log.warn(entry, 'REST call failed');
}
