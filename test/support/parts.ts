import { expect, vi } from 'vitest';
import { ErrorResponse } from '../../src/contract/error.ts';
import { parseJson } from '../../src/contract/json.ts';
import type { PetStore } from '../../src/petstore/operations.ts';
import type { TypedPart } from '../../src/yoga/parts.ts';
import { openBuiltin, startGateway, type TestOptions } from './gateway.ts';
import { graphqlRequest, withKey } from './graphql.ts';

/** A pet store whose orders wait until `release` is called or the call is aborted. */
export function holdingOrders(petStore: PetStore) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let calls = 0;
  let cancelled = 0;
  const store: PetStore = {
    ...petStore,
    async listOrders(call) {
      calls++;
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      call.whenCancelled(() => {
        cancelled++;
        reject(call.cancelled);
      });
      await Promise.race([released, aborted]);
      return petStore.listOrders(call);
    },
  };
  return {
    petStore: store,
    release,
    calls: () => calls,
    cancelled: () => cancelled,
    /** Resolves when this many calls are held. */
    called: (count: number) => vi.waitFor(() => expect(calls).toBe(count), { interval: 5 }),
  };
}

/** A pet store whose `listOrders` fails with 503. All other calls work. */
export function withoutOrders(petStore: PetStore): PetStore {
  const error = new ErrorResponse(503, 'The pet store responded with 503.');
  return { ...petStore, listOrders: () => Promise.reject(error) };
}

/** Selects pets, and orders in a deferred fragment. */
export const petsFirst = '{ pets(limit: 1) { id } ... @defer(label: "later") { orders } }';

/** Requests a response in parts, with the demo key. */
export function sendForParts(
  send: (request: Request) => Promise<Response>,
  url: string,
  query = petsFirst,
  accept = 'multipart/mixed;incrementalSpec=v0.2',
  signal?: AbortSignal,
): Promise<Response> {
  const headers = { ...withKey, ...(accept && { accept }) };
  return send(graphqlRequest(url, { query }, headers, signal));
}

/** Yields the parts of a body, int64-exact, as they arrive. Leaving the loop cancels the body. */
export async function* readParts({ headers, body }: Response): AsyncGenerator<TypedPart, void> {
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream');
  const [boundary, before] = isEvents ? ['\n\n', 'data: '] : ['\r\n---', '\r\n\r\n'];
  let text = '';
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf(boundary); end >= 0; end = text.indexOf(boundary)) {
      const start = text.indexOf(before);
      if (start >= 0 && start < end) {
        yield parseJson(text.slice(start + before.length, end)) as TypedPart;
      }
      text = text.slice(end + boundary.length);
    }
  }
  const rest = isEvents ? '' : '--\r\n';
  if (text !== rest) throw new Error(`Expected the end of the body, received ${text}`);
}

/** Starts a gateway whose orders wait until `release` is called or the call is aborted. */
export async function startHolding(options: TestOptions = {}) {
  const { petStore, ...orders } = holdingOrders(await openBuiltin());
  const service = await startGateway({ petStore, ...options });
  return {
    ...service,
    ...orders,
    /** Requests a response in parts. */
    send: (query?: string, accept?: string, signal?: AbortSignal) =>
      sendForParts(fetch, service.url, query, accept, signal),
  };
}
