import { decodeNewMessage, decodeNewPet, decodePetStatus, encodePet } from '../contract/codec.ts';
import { InvalidInputError } from '../contract/error.ts';
import { parseInt64 } from '../contract/int64.ts';
import { decodeUtf8, parseJson } from '../contract/json.ts';
import type { Call, ListPetsQuery, OperationId, PetStore } from '../contract/pet-store.ts';
import { pageSize } from '../contract/records.ts';
import { HttpError } from '../http/error.ts';
import { requireSmallJson } from '../http/json-limits.ts';
import { isJsonType, unsupportedMediaType } from '../http/media-type.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';

/** A request that matched a route. */
export interface RoutedRequest {
  readonly request: HttpRequest;
  readonly call: Call;
  /** The part of the path that the route's capturing group matched; may be empty. */
  readonly parameter: string;
}

interface Backend {
  readonly petStore: PetStore;
}

type Handle = (backend: Backend, routed: RoutedRequest) => Promise<HttpResponse>;

/**
 * Handles the requests of each operation of the contract.
 * @throws InvalidInputError if a parameter or the body is invalid, before the pet store is called.
 */
export const handlers: Readonly<Record<OperationId, Handle>> = {
  listPets,
  createPet,
  getPet,
  listOrders,
  sendMessage,
};

async function listPets(
  { petStore }: Backend,
  { request, call }: RoutedRequest,
): Promise<HttpResponse> {
  const search = new URLSearchParams(request.search);
  const limit = single(search, 'limit');
  const status = single(search, 'status');
  const query: ListPetsQuery = {
    ...(limit === undefined ? {} : { limit: parseLimit(limit) }),
    ...(status === undefined ? {} : { status: decodePetStatus(status) }),
  };
  const pets = await petStore.listPets(call, query);
  return json(200, JSON.stringify(Array.from(pets, encodePet)));
}

async function createPet(
  { petStore }: Backend,
  { request, call }: RoutedRequest,
): Promise<HttpResponse> {
  const pet = await petStore.createPet(call, decodeNewPet(readJson(request)));
  return json(201, JSON.stringify(encodePet(pet)));
}

async function getPet(
  { petStore }: Backend,
  { call, parameter }: RoutedRequest,
): Promise<HttpResponse> {
  const petId = parseInt64(decodeSegment(parameter));
  if (petId === undefined) {
    throw new InvalidInputError(`petId: expected an int64, received ${JSON.stringify(parameter)}.`);
  }
  return json(200, JSON.stringify(encodePet(await petStore.getPet(call, petId))));
}

async function listOrders({ petStore }: Backend, { call }: RoutedRequest): Promise<HttpResponse> {
  return json(200, (await petStore.listOrders(call)).text);
}

async function sendMessage(
  { petStore }: Backend,
  { request, call }: RoutedRequest,
): Promise<HttpResponse> {
  const message = decodeNewMessage(readJson(request));
  return json(200, JSON.stringify(await petStore.sendMessage(call, message)));
}

function readJson({ headers, body }: HttpRequest): unknown {
  const contentType = headers['content-type'];
  if (!isJsonType(contentType)) {
    throw new InvalidInputError(unsupportedMediaType(contentType).message);
  }
  if (body instanceof HttpError) throw body;
  try {
    const text = decodeUtf8(body);
    requireSmallJson('body', text);
    return parseJson(text);
  } catch (error) {
    if (error instanceof HttpError) throw new InvalidInputError(error.message);
    throw new InvalidInputError('body: expected valid JSON in UTF-8.');
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

function single(search: URLSearchParams, name: string): string | undefined {
  const values = search.getAll(name);
  if (values.length < 2) return values[0];
  throw new InvalidInputError(`${name}: expected one value, received ${values.length}.`);
}

function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= pageSize.minimum && limit <= pageSize.maximum) return limit;
  throw new InvalidInputError(
    `limit: expected an integer from ${pageSize.minimum} to ${pageSize.maximum}, received ${JSON.stringify(text)}.`,
  );
}

function json(status: number, body: string): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body };
}
