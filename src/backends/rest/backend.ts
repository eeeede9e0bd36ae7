import { createHmac, randomUUID } from 'node:crypto';
import type { Backend, BackendOf, Call } from '../../contract/backend.ts';
import { callHeaders } from '../../contract/call-headers.ts';
import type { WriteKey } from '../../contract/caller.ts';
import { NotConfiguredError } from '../../contract/error.ts';
import { nameOfWrite } from '../../contract/idempotency.ts';
import {
  type Contract,
  isSafe,
  type Operation,
  type Operations,
} from '../../contract/operation.ts';
import {
  createRequestWriter,
  createResponseReader,
  type RequestParts,
  type RestRequest,
} from '../../contract/request.ts';
import { readJsonText } from '../../contract/response-json.ts';
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
export interface RestOptions extends TlsFiles, ProxyOptions {
  /** The base URL of each service; the calls of one without cannot be made. The first has one. */
  readonly baseUrls: Readonly<Record<string, URL | undefined>>;
  /** Deadline of one call, including retries, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits?: Partial<OriginLimits>;
  /** Share one call among equal reads in flight. */
  readonly shareReads?: boolean;
  /** The service that gets an `Idempotency-Key` with each write, because it honours it; `on` for all. */
  readonly honouring?: string;
  /** Whether the log and traces show a hash of the API key, for which the secret is required. */
  readonly logCredential?: 'off' | 'hash';
  readonly logCredentialSecret?: string | undefined;
}

/**
 * A read joins an equal one in flight that is at most this old, in milliseconds. Later reads make their
 * own call, so that a hanging call delays only the callers that arrived in this time.
 */
const maxSharedAgeMs = 100;

/**
 * Opens the services of a contract as a backend with a method for each of its operations. Connects on the
 * first call. @throws as `readTlsFiles` does.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the methods share the way of every call.
export function openRestBackend<All extends Operations>(
  { operations, services }: Contract & { readonly operations: All },
  options: RestOptions,
  telemetry: Reporting,
  keys: ApiKeys,
): BackendOf<All, KeyedCaller> & { reload(files: TlsFiles): void } {
  const { log, metrics } = telemetry;
  const { baseUrls, timeoutMs, shareReads = false, honouring = 'off' } = options;
  const hashSecret = options.logCredential === 'hash' ? options.logCredentialSecret : undefined;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, so 5 s of the default 10 s. Slower writes need a longer deadline.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const tls = readTlsFiles('UPSTREAM', options);
  const origins: Origin[] = [];
  const originsByUrl = new Map<string, Origin>();
  const shared = { deadlines: new Deadlines(), timeoutMs, keys, log, metrics };

  /** Services at one origin share it. */
  function originOf(service: string, url: URL): Origin {
    const { origin } = url;
    const opened = originsByUrl.get(origin);
    if (opened) return opened;
    const proxy = proxyOf(url, options);
    const index = origins.length;
    const next = new Origin({ service, index, origin, proxy, tls, limits }, keys, telemetry);
    origins.push(next);
    originsByUrl.set(origin, next);
    return next;
  }

  /** A proxy for an `http:` URL gets whole URLs, and its own credential (RFC 9112, section 3.2.2). */
  function destinationOf(origin: Origin, url: URL) {
    const forwarder = url.protocol === 'http:' ? proxyOf(url, options) : undefined;
    const prefix = (forwarder ? url.origin : '') + url.pathname.replace(/\/+$/, '');
    const headers = forwarder?.headers;
    return { ...shared, origin, writtenAt: 0, baseUrl: url, prefix, headers };
  }

  const names = Object.keys(services);
  const [main = ''] = names;
  const destinations = new Map(
    names.map((name) => {
      const url = baseUrls[name];
      return [name, url && destinationOf(originOf(name, url), url)];
    }),
  );

  /** Sends a request, or joins an equal read. */
  function send<T>(
    service: string,
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
    const destination = destinations.get(service);
    if (destination === undefined) {
      const { requestId } = caller;
      const { variable, missing = '' } = services[service] as Contract['services'][string];
      log.warn({ requestId, operation }, `REST call not made: ${variable} is not set`);
      return Promise.reject(new NotConfiguredError(missing));
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

  /** Creates the method of an operation. */
  function methodOf(id: string, operation: Operation): Call<KeyedCaller> {
    const { method, path: template, service, acceptsKeyWith404 } = operation;
    const write = createRequestWriter(operation);
    const read = createResponseReader(operation);
    const hasKeys = !isSafe(method) && ['on', service].includes(honouring);
    return (caller, value, key?: WriteKey) => {
      let parts: RequestParts;
      try {
        parts = write(value);
      } catch (error) {
        return Promise.reject(error);
      }
      const { path, json } = parts;
      const body = json && JSON.stringify(json);
      const request = { operation: id, method, path, template, body, acceptsKeyWith404 };
      if (!hasKeys) return send(service, caller, request, read);
      // One per API key, because the service may ignore whose it is.
      const idempotencyKey = key ? nameOfWrite(caller, key) : randomUUID();
      const sent = { idempotencyKey, mayBeRepeated: key !== undefined };
      return send(service, caller, { ...request, ...sent }, read);
    };
  }

  const otherPath = createLabels(100, '');
  const methods = Object.entries(operations).map(([id, one]) => [id, methodOf(id, one)]);
  const backend: Backend<KeyedCaller> & { reload(files: TlsFiles): void } = {
    send(caller, request) {
      const operation = otherPath(request.operation);
      const read = isSafe(request.method) ? readJsonText : readWritten;
      return send(main, caller, { ...request, operation }, read);
    },
    async checkReady() {
      const outcome = await destinations.get(main)?.origin.checkReady();
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
  return Object.assign(backend, Object.fromEntries(methods));
}

/** Reads the body of the response to a write; an empty one, as of a 204, is null. */
const readWritten = (text: string) => readJsonText(text || 'null');
