import { decodeMessage, decodePet, decodePets, encodeNewPet } from '../../contract/decode.ts';
import { BackendUnavailableError } from '../../contract/error.ts';
import type { ListPetsQuery, PetStore } from '../../contract/pet-store.ts';
import { readJson } from './response.ts';
import { openTransport } from './transport.ts';

/** Where the REST service lives; `/v1` is part of the base address. */
export interface RestPetStoreOptions {
  readonly baseUrl: URL;
  /** The base address of `POST /messages`, which is another than the pet store's. */
  readonly messagesBaseUrl: URL | undefined;
  /** The total time of one call, in milliseconds. */
  readonly timeoutMs: number;
}

/** Opens the REST service as a `PetStore`. Nothing is connected before the first call. */
export function openRestPetStore(options: RestPetStoreOptions): PetStore {
  const pets = openTransport(options.baseUrl, options.timeoutMs);
  const messages =
    options.messagesBaseUrl && openTransport(options.messagesBaseUrl, options.timeoutMs);

  return {
    async listPets(call, query) {
      const path = `/pets${toSearch(query)}`;
      return decodePets(readJson(await pets.send(call, { method: 'GET', path })));
    },
    async createPet(call, pet) {
      const body = JSON.stringify(encodeNewPet(pet));
      return decodePet(readJson(await pets.send(call, { method: 'POST', path: '/pets', body })));
    },
    async getPet(call, petId) {
      return decodePet(readJson(await pets.send(call, { method: 'GET', path: `/pets/${petId}` })));
    },
    async listOrders(call) {
      return readJson(await pets.send(call, { method: 'GET', path: '/store/orders' }));
    },
    async sendMessage(call, message) {
      if (messages === undefined) {
        throw new BackendUnavailableError(
          'Messages can not be sent: this gateway has no MESSAGES_BASE_URL.',
        );
      }
      const body = JSON.stringify({ message });
      const response = await messages.send(call, { method: 'POST', path: '/messages', body });
      return decodeMessage(readJson(response));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pets[Symbol.asyncDispose](), messages?.[Symbol.asyncDispose]()]);
    },
  };
}

/** Only the parameters that were given; a status is one of three words and needs no escaping. */
function toSearch({ limit, status }: ListPetsQuery): string {
  const parameters = [];
  if (limit !== undefined) parameters.push(`limit=${limit}`);
  if (status !== undefined) parameters.push(`status=${status}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}
