import {
  decodeMessage,
  decodeOrders,
  decodePet,
  decodePets,
  encodeNewPet,
} from '../../contract/decode.ts';
import { BackendUnavailableError } from '../../contract/error.ts';
import type { Call, ListPetsQuery, PetStore } from '../../contract/pet-store.ts';
import { PetsText } from '../../contract/pets-text.ts';
import type { Pets } from '../../contract/records.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { takeTurn, turnBytes } from '../../turns.ts';
import { circuitLog, logFault, outcomeOf } from './call-outcome.ts';
import { defaultLimits, type OriginLimits, openOrigin } from './origin.ts';
import { readJson, readText } from './response.ts';
import { createSend, type RestRequest, type Send } from './transport.ts';

/** Where the REST service lives. */
export interface RestPetStoreOptions {
  /** `/v1` included. */
  readonly baseUrl: URL;
  /** The base address of `POST /messages`, which is another than the pet store's. */
  readonly messagesBaseUrl: URL | undefined;
  /** The total time of one call, in milliseconds. */
  readonly timeoutMs: number;
  readonly limits?: Partial<OriginLimits>;
}

/** Opens the REST service as a `PetStore`. Nothing is connected before the first call. */
export function openRestPetStore(
  options: RestPetStoreOptions,
  { log, metrics }: Pick<Telemetry, 'log' | 'metrics'>,
): PetStore {
  const { baseUrl, messagesBaseUrl, timeoutMs } = options;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, 5 s of the default 10 s: a write that takes longer needs a longer one.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const petsOrigin = openOrigin(baseUrl.origin, limits, circuitLog(log, 'pets'));
  const isShared = messagesBaseUrl === undefined || messagesBaseUrl.origin === baseUrl.origin;
  const messagesOrigin = isShared
    ? petsOrigin
    : openOrigin(messagesBaseUrl.origin, limits, circuitLog(log, 'messages'));
  metrics.watchOrigin('pets', petsOrigin.state);
  if (!isShared) metrics.watchOrigin('messages', messagesOrigin.state);

  const pets = createSend(petsOrigin, baseUrl, timeoutMs, metrics);
  const messages =
    messagesBaseUrl && createSend(messagesOrigin, messagesBaseUrl, timeoutMs, metrics);

  async function ask<T>(
    send: Send,
    call: Call,
    request: RestRequest,
    read: (text: string) => T,
  ): Promise<T> {
    const { operation } = request;
    const observation = call.observe?.(operation);
    const start = performance.now();
    let outcome: number | string | undefined;
    let giveBack: (() => void) | undefined;
    try {
      const response = await send(call, request, observation?.traceHeaders);
      outcome = response.status;
      ({ giveBack } = response);
      if (response.body.byteLength > turnBytes) await takeTurn(call.authorization);
      return read(readText(response, call.apiKey));
    } catch (error) {
      outcome = outcomeOf(call, error);
      logFault(log, call, operation, error);
      throw error;
    } finally {
      if (giveBack !== undefined) holdUntilAnswered(call, giveBack);
      const ms = performance.now() - start;
      metrics.restCall(operation, outcome ?? '', ms / 1000);
      observation?.end(outcome ?? '', ms);
    }
  }

  return {
    listPets: (call, query) =>
      ask(pets, call, get('listPets', `/pets${toSearch(query)}`), readPets),
    createPet: (call, pet) =>
      ask(pets, call, post('createPet', '/pets', encodeNewPet(pet)), readPet),
    getPet: (call, petId) => ask(pets, call, get('getPet', `/pets/${petId}`), readPet),
    listOrders: (call) => ask(pets, call, get('listOrders', '/store/orders'), readOrders),
    async sendMessage(call, message) {
      if (messages === undefined) {
        throw new BackendUnavailableError(
          'Messages can not be sent: this gateway has no MESSAGES_BASE_URL.',
        );
      }
      return ask(messages, call, post('sendMessage', '/messages', { message }), readMessage);
    },
    async checkReady() {
      try {
        await petsOrigin.checkReady();
      } catch (error) {
        logFault(log, { requestId: 'readyz' }, 'checkReady', error);
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([petsOrigin, messagesOrigin].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/** What was read from a large body is held until its request is answered, if anybody says when that is. */
function holdUntilAnswered({ whenAnswered }: Call, giveBack: () => void): void {
  if (whenAnswered === undefined) giveBack();
  else whenAnswered(giveBack);
}

const readPets = (text: string): Pets => PetsText.read(text) ?? decodePets(readJson(text));
const readPet = (text: string) => decodePet(readJson(text));
const readOrders = (text: string) => decodeOrders(readJson(text));
const readMessage = (text: string) => decodeMessage(readJson(text));

function get(operation: string, path: string): RestRequest {
  return { operation, method: 'GET', path };
}

function post(operation: string, path: string, json: object): RestRequest {
  return { operation, method: 'POST', path, body: JSON.stringify(json) };
}

/** Only the parameters that were given; a status is one of three words and needs no escaping. */
function toSearch({ limit, status }: ListPetsQuery): string {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}
