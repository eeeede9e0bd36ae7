import { decodeNewMessage, decodeNewPet, decodePetStatus, encodePet } from '../contract/codec.ts';
import { InvalidInputError } from '../contract/error.ts';
import { writeKeyOf } from '../contract/idempotency.ts';
import { parseInt64 } from '../contract/int64.ts';
import type { OperationId, PetStore } from '../contract/pet-store.ts';
import { isPageSize, pageSize } from '../contract/records.ts';
import { readJsonBody } from '../http/body.ts';
import { HttpError } from '../http/error.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';

/** Returns the JSON of a success. Rejects with InvalidInputError before any call. */
type Handler = (petStore: PetStore, request: GatewayRequest, parameter: string) => Promise<string>;

/** The handler of each operation of the contract. */
export const handlers: Readonly<Record<OperationId, Handler>> = {
  async listPets(petStore, request) {
    const search = new URLSearchParams(request.head.search);
    const limit = readParameter(search, 'limit', parseLimit);
    const status = readParameter(search, 'status', decodePetStatus);
    const pets = await petStore.listPets(request.scope, { limit, status });
    return JSON.stringify(Array.from(pets, encodePet));
  },

  async createPet(petStore, request) {
    const newPet = decodeNewPet(readRequestJson(request));
    const write = writeKeyOf(request.scope, request.head.path, 'createPet', newPet);
    return JSON.stringify(encodePet(await petStore.createPet(request.scope, newPet, write)));
  },

  async getPet(petStore, request, parameter) {
    const petId = parseInt64(decodeSegment(parameter));
    if (petId !== undefined) {
      return JSON.stringify(encodePet(await petStore.getPet(request.scope, petId)));
    }
    throw new InvalidInputError(`petId: expected an int64, received ${JSON.stringify(parameter)}.`);
  },

  async listOrders(petStore, request) {
    return (await petStore.listOrders(request.scope)).text;
  },

  async sendMessage(petStore, request) {
    const message = decodeNewMessage(readRequestJson(request));
    const write = writeKeyOf(request.scope, request.head.path, 'sendMessage', message);
    return JSON.stringify(await petStore.sendMessage(request.scope, message, write));
  },
};

function readRequestJson(request: GatewayRequest): unknown {
  try {
    return readJsonBody(request.head, request.body);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new InvalidInputError(error.message);
  }
}

/** Decodes a percent-encoded path segment; returns a malformed one unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function readParameter<T>(search: URLSearchParams, name: string, parse: (text: string) => T) {
  const values = search.getAll(name);
  if (values.length < 2) return values[0] === undefined ? undefined : parse(values[0]);
  throw new InvalidInputError(`${name}: expected one value, received ${values.length}.`);
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (isPageSize(limit)) return limit;
  throw new InvalidInputError(
    `limit: expected an integer from ${pageSize.minimum} to ${pageSize.maximum}, received ${JSON.stringify(text)}.`,
  );
}
