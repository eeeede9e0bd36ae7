import {
  decodeMessage,
  decodeOrders,
  decodePet,
  decodePets,
  encodeNewPet,
} from '../../contract/decode.ts';
import { BackendUnavailableError } from '../../contract/error.ts';
import type { Call, ListPetsQuery, PetStore } from '../../contract/pet-store.ts';
import type { Log } from '../../telemetry/log.ts';
import { logFault } from './log-fault.ts';
import { defaultLimits, type OriginLimits, openOrigin } from './origin.ts';
import { readJson } from './response.ts';
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
export function openRestPetStore(options: RestPetStoreOptions, log: Log): PetStore {
  const { baseUrl, messagesBaseUrl, timeoutMs } = options;
  const limits = {
    ...defaultLimits,
    // Half of the deadline, 5 s of the default 10 s: a write that takes longer needs a longer one.
    headersTimeoutMs: Math.ceil(timeoutMs / 2),
    ...options.limits,
  };
  const origins = new Map(
    [baseUrl, messagesBaseUrl ?? baseUrl].map(({ origin }) => [origin, openOrigin(origin, limits)]),
  );
  const sendTo = (url: URL | undefined): Send | undefined => {
    const origin = url && origins.get(url.origin);
    return origin && createSend(origin, url, timeoutMs);
  };
  const pets = sendTo(baseUrl);
  const messages = sendTo(messagesBaseUrl);

  async function ask<T>(
    send: Send | undefined,
    call: Call,
    request: RestRequest,
    decode: (json: unknown) => T,
  ): Promise<T> {
    if (send === undefined) {
      throw new BackendUnavailableError(
        'Messages can not be sent: this gateway has no MESSAGES_BASE_URL.',
      );
    }
    try {
      return decode(readJson(await send(call, request), call.apiKey));
    } catch (error) {
      logFault(log, call, request, error);
      throw error;
    }
  }

  return {
    listPets: (call, query) =>
      ask(pets, call, { method: 'GET', path: `/pets${toSearch(query)}` }, decodePets),
    createPet: (call, pet) =>
      ask(pets, call, post('/pets', encodeNewPet(pet)), (json) => decodePet(json)),
    getPet: (call, petId) =>
      ask(pets, call, { method: 'GET', path: `/pets/${petId}` }, (json) => decodePet(json)),
    listOrders: (call) => ask(pets, call, { method: 'GET', path: '/store/orders' }, decodeOrders),
    sendMessage: (call, message) =>
      ask(messages, call, post('/messages', { message }), decodeMessage),
    async [Symbol.asyncDispose]() {
      await Promise.all([...origins.values()].map((origin) => origin[Symbol.asyncDispose]()));
    },
  };
}

function post(path: string, json: object): RestRequest {
  return { method: 'POST', path, body: JSON.stringify(json) };
}

/** Only the parameters that were given; a status is one of three words and needs no escaping. */
function toSearch({ limit, status }: ListPetsQuery): string {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}
