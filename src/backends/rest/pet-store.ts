import {
  decodeMessage,
  decodeOrders,
  decodePet,
  decodePets,
  encodeNewPet,
} from '../../contract/codec.ts';
import { BackendUnavailableError } from '../../contract/error.ts';
import type { Call, ListPetsQuery, PetStore } from '../../contract/pet-store.ts';
import { PetsText } from '../../contract/pets-text.ts';
import type { Pets } from '../../contract/records.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { takeTurn, turnBytes } from '../../turns.ts';
import { createCircuitLog, logFailure, outcomeOf } from './call-outcome.ts';
import { defaultLimits, type OriginLimits, openOrigin } from './origin.ts';
import { readJson, readText } from './response.ts';
import { createSend, type RestRequest, type Send } from './send-with-retry.ts';

/** Options of the REST backend. */
export interface RestPetStoreOptions {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  /** The base URL of `POST /messages`; if undefined, messages cannot be sent. */
  readonly messagesBaseUrl: URL | undefined;
  /** Deadline of one call, including retries, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits?: Partial<OriginLimits>;
}

/** Opens the REST service as a `PetStore`. Connects on the first call. */
export function openRestPetStore(
  options: RestPetStoreOptions,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
): PetStore {
  const { baseUrl, messagesBaseUrl, timeoutMs } = options;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, so 5 s of the default 10 s. Slower writes need a longer deadline.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const petsOrigin = openOrigin(baseUrl.origin, limits, createCircuitLog(log, 'pets'));
  const isShared = messagesBaseUrl === undefined || messagesBaseUrl.origin === baseUrl.origin;
  const messagesOrigin = isShared
    ? petsOrigin
    : openOrigin(messagesBaseUrl.origin, limits, createCircuitLog(log, 'messages'));
  metrics.watchOrigin('pets', petsOrigin.state);
  if (!isShared) metrics.watchOrigin('messages', messagesOrigin.state);

  const pets = createSend(petsOrigin, baseUrl, timeoutMs, metrics);
  const messages =
    messagesBaseUrl && createSend(messagesOrigin, messagesBaseUrl, timeoutMs, metrics);

  async function callService<T>(
    send: Send,
    call: Call,
    request: RestRequest,
    read: (text: string) => T,
  ): Promise<T> {
    const { operation } = request;
    const observation = call.observe?.(operation);
    const start = performance.now();
    let outcome: number | string | undefined;
    let releaseBody: (() => void) | undefined;
    try {
      const response = await send(call, request, observation?.traceHeaders);
      outcome = response.status;
      ({ releaseBody } = response);
      if (response.body.byteLength > turnBytes) await takeTurn(call.authorization);
      return read(readText(response, call.apiKey));
    } catch (error) {
      outcome = outcomeOf(call, error);
      logFailure(log, call, operation, error);
      throw error;
    } finally {
      if (releaseBody !== undefined) releaseAfterResponse(call, releaseBody);
      const ms = performance.now() - start;
      metrics.restCall(operation, outcome ?? '', ms / 1000);
      observation?.end(outcome ?? '', ms);
    }
  }

  return {
    listPets: (call, query) =>
      callService(pets, call, get('listPets', `/pets${formatSearch(query)}`), readPets),
    createPet: (call, pet) =>
      callService(pets, call, post('createPet', '/pets', encodeNewPet(pet)), readPet),
    getPet: (call, petId) => callService(pets, call, get('getPet', `/pets/${petId}`), readPet),
    listOrders: (call) => callService(pets, call, get('listOrders', '/store/orders'), readOrders),
    async sendMessage(call, message) {
      if (messages === undefined) {
        throw new BackendUnavailableError(
          'Messages cannot be sent, because MESSAGES_BASE_URL is not set.',
        );
      }
      return callService(
        messages,
        call,
        post('sendMessage', '/messages', { message }),
        readMessage,
      );
    },
    async checkReady() {
      try {
        await petsOrigin.checkReady();
      } catch (error) {
        logFailure(log, { requestId: 'readyz' }, 'checkReady', error);
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([petsOrigin, messagesOrigin].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/** Releases a body when the response to the request is complete, or now if that is not observed. */
function releaseAfterResponse({ onResponseComplete }: Call, releaseBody: () => void): void {
  if (onResponseComplete === undefined) releaseBody();
  else onResponseComplete(releaseBody);
}

const readPets = (text: string): Pets => PetsText.match(text) ?? decodePets(readJson(text));
const readPet = (text: string) => decodePet(readJson(text));
const readOrders = (text: string) => decodeOrders(readJson(text));
const readMessage = (text: string) => decodeMessage(readJson(text));

function get(operation: string, path: string): RestRequest {
  return { operation, method: 'GET', path };
}

function post(operation: string, path: string, json: object): RestRequest {
  return { operation, method: 'POST', path, body: JSON.stringify(json) };
}

/** Formats the query string. The values need no escaping. */
function formatSearch({ limit, status }: ListPetsQuery): string {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}
