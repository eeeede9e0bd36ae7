import { createHmac, randomUUID } from 'node:crypto';
import { callHeaders } from '../../contract/call-headers.ts';
import { decodeMessage, decodePet, encodePet } from '../../contract/codec.ts';
import { NotConfiguredError } from '../../contract/error.ts';
import { nameOfWrite } from '../../contract/idempotency.ts';
import type { Int64 } from '../../contract/int64.ts';
import type { JsonText } from '../../contract/json.ts';
import {
  type ListPetsQuery,
  type Operation,
  type OperationId,
  operations,
  type PetStore,
  type RestRequest,
  searchOf,
  type WriteKey,
} from '../../contract/pet-store.ts';
import { readPets } from '../../contract/pets-text.ts';
import type { NewPet } from '../../contract/records.ts';
import { readJson, readJsonText } from '../../contract/response-json.ts';
import type { KeyedCaller } from '../../keys/api-key.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { createLabels } from '../../telemetry/metrics.ts';
import type { Reporting } from '../../telemetry/telemetry.ts';
import { readTlsFiles, type TlsFiles } from '../../tls-files.ts';
import { RestCall } from './call.ts';
import { requestCreated } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import { logFailure, type Read } from './ending.ts';
import { defaultLimits, Origin, type OriginLimits } from './origin.ts';
import { consequencesOf, toError } from './outcome.ts';
import { type ProxyOptions, proxyOf } from './proxy.ts';

/** Options of the REST backend. */
export interface RestPetStoreOptions extends TlsFiles, ProxyOptions {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  /** The base URL of `POST /messages`; if undefined, messages cannot be sent. */
  readonly messagesBaseUrl: URL | undefined;
  /** Deadline of one call, including retries, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits?: Partial<OriginLimits>;
  /** Share one call among equal reads in flight. */
  readonly shareReads?: boolean;
  /** Which services get an `Idempotency-Key` with each write, because they honour it: `on` for both. */
  readonly honouring?: 'off' | 'on' | Operation['service'];
  /** Whether the log and traces show a hash of the API key, for which the secret is required. */
  readonly logCredential?: 'off' | 'hash';
  readonly logCredentialSecret?: string | undefined;
}

/**
 * A read joins an equal one in flight that is at most this old, in milliseconds. Later reads make their
 * own call, so that a hanging call delays only the callers that arrived in this time.
 */
const maxSharedAgeMs = 100;

/** Opens the REST service as a `PetStore`. Connects on the first call. @throws as `readTlsFiles` does. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the methods share the way of every call.
export function openRestPetStore(
  options: RestPetStoreOptions,
  telemetry: Reporting,
  keys: ApiKeys,
): PetStore<KeyedCaller> & { reload(files: TlsFiles): void } {
  const { log, metrics } = telemetry;
  const { baseUrl, messagesBaseUrl, timeoutMs, shareReads = false, honouring = 'off' } = options;
  const hashSecret = options.logCredential === 'hash' ? options.logCredentialSecret : undefined;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, so 5 s of the default 10 s. Slower writes need a longer deadline.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const tls = readTlsFiles('UPSTREAM', options);
  const open = (service: string, index: number, url: URL) => {
    const proxy = proxyOf(url, options);
    return new Origin({ service, index, origin: url.origin, proxy, tls, limits }, keys, telemetry);
  };
  const petsOrigin = open('pets', 0, baseUrl);
  const isSame = messagesBaseUrl === undefined || messagesBaseUrl.origin === baseUrl.origin;
  const messagesOrigin = isSame ? petsOrigin : open('messages', 1, messagesBaseUrl);
  const origins = [petsOrigin, messagesOrigin];
  const shared = { deadlines: new Deadlines(), timeoutMs, keys, log, metrics };

  /** A proxy for an `http:` URL gets whole URLs, and its own credential (RFC 9112, section 3.2.2). */
  function destinationOf(origin: Origin, url: URL) {
    const forwarder = url.protocol === 'http:' ? proxyOf(url, options) : undefined;
    const prefix = (forwarder ? url.origin : '') + url.pathname.replace(/\/+$/, '');
    const headers = forwarder?.headers;
    return { ...shared, origin, writtenAt: 0, baseUrl: url, prefix, headers };
  }

  const destinations = {
    pets: destinationOf(petsOrigin, baseUrl),
    messages: messagesBaseUrl && destinationOf(messagesOrigin, messagesBaseUrl),
  };

  /** Sends a request, or joins an equal read. */
  function send<T>(
    service: Operation['service'],
    caller: KeyedCaller,
    request: RestRequest,
    read: Read<T>,
  ): Promise<T> {
    if (hashSecret !== undefined && !caller.identity) {
      const hash = createHmac('sha256', hashSecret).update(caller.key.credential).digest('hex');
      caller.identity = { credential: hash.slice(0, 12) };
    }
    if (caller.cancelled) return Promise.reject(caller.cancelled);
    const { operation, method, path, body, idempotencyKey } = request;
    const destination = destinations[service];
    if (destination === undefined) {
      const { requestId } = caller;
      log.warn({ requestId, operation }, 'REST call not made: MESSAGES_BASE_URL is not set');
      return Promise.reject(
        new NotConfiguredError('This gateway is not configured to send messages.'),
      );
    }
    const { key, forwarded } = caller;
    const isShared = shareReads && method === 'GET';
    const id = isShared ? operation + path + (forwarded ? JSON.stringify(forwarded) : '') : '';
    if (isShared) {
      const earliest = Math.max(performance.now() - maxSharedAgeMs, destination.writtenAt);
      const found = key.reads.find((read) => read.id === id && read.startedAt > earliest);
      if (found !== undefined) {
        metrics.coalescedReads.inc({ operation });
        return (found as RestCall).wait(caller) as Promise<T>;
      }
    }
    const span = caller.trace?.startCall(request, destination.baseUrl);
    const headers: Record<string, string | undefined> = {
      authorization: caller.authorization,
      ...callHeaders,
      'x-request-id': caller.requestId,
    };
    // Spreading what is undefined costs more than asking.
    if (forwarded) Object.assign(headers, forwarded);
    if (destination.headers) Object.assign(headers, destination.headers);
    if (span?.headers && !requestCreated.hasSubscribers) Object.assign(headers, span.headers);
    if (body !== undefined) headers['content-type'] = 'application/json';
    // A string of RFC 9651, as in draft-ietf-httpapi-idempotency-key-header-07.
    if (idempotencyKey !== undefined) headers['idempotency-key'] = `"${idempotencyKey}"`;
    const sent = { method, path: destination.prefix + path, headers, body: body ?? null };
    const call = new RestCall({ service: destination, caller, id, request, sent, read, span });
    if (isShared) key.reads.push(call);
    shared.deadlines.add(call);
    const result = call.wait(caller) as Promise<T>;
    call.start();
    return result;
  }

  /**
   * Creates the method of an operation. `describe` returns what its request has beside the path;
   * `parameter` replaces the name in it.
   */
  function method<Value, Result>(
    operation: OperationId,
    read: Read<Result>,
    describe: (value: Value) => { parameter?: string; search?: string; json?: object },
  ) {
    const { method, path: template, service } = operations[operation];
    const hasKeys = method === 'POST' && ['on', service].includes(honouring);
    return (caller: KeyedCaller, value: Value, write?: WriteKey) => {
      const { parameter = '', search = '', json } = describe(value);
      const path = template.replace(/\{\w+\}/, parameter) + search;
      const body = json && JSON.stringify(json);
      const request = { operation, method, path, template, body };
      if (!hasKeys) return send(service, caller, request, read);
      // One per API key, because the service may ignore whose it is.
      const idempotencyKey = write ? nameOfWrite(caller, write) : randomUUID();
      const key = { idempotencyKey, mayBeRepeated: write !== undefined };
      return send(service, caller, { ...request, ...key }, read);
    };
  }

  const otherPath = createLabels(100, '');
  return {
    listPets: method('listPets', readPets, (query: ListPetsQuery) => ({ search: searchOf(query) })),
    createPet: method('createPet', readPet, (pet: NewPet) => ({ json: encodePet(pet) })),
    getPet: method('getPet', readPet, (petId: Int64) => ({ parameter: petId })),
    listOrders: method<void, JsonText>('listOrders', readJsonText, () => ({})),
    sendMessage: method('sendMessage', readMessage, (message: string) => ({ json: { message } })),
    send(caller, request) {
      const operation = otherPath(request.operation);
      const read = request.method === 'GET' ? readJsonText : readWritten;
      return send('pets', caller, { ...request, operation }, read);
    },
    async checkReady() {
      const outcome = await petsOrigin.checkReady();
      if (outcome === undefined) return;
      const error = toError(outcome);
      logFailure(log, { requestId: 'readyz' }, 'checkReady', consequencesOf(outcome).kind, error);
      throw error;
    },
    reload(files) {
      const next = readTlsFiles('UPSTREAM', files);
      for (const origin of origins) origin.setTls(next);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(origins.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/** Reads the body of the response to a POST; an empty one, as of a 204, is null. */
const readWritten = (text: string) => readJsonText(text || 'null');
const readPet = (text: string) => decodePet(readJson(text));
const readMessage = (text: string) => decodeMessage(readJson(text));
