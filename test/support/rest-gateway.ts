import { openRestPetStore, type RestPetStoreOptions } from '../../src/backends/rest/pet-store.ts';
import { startGateway, type TestOptions } from './gateway.ts';
import { quiet } from './log.ts';
import { sendJson, startUpstream } from './upstream.ts';

/** Opens the REST backend for a service whose base URLs are `/v1` and `/quickstart` below this one. */
export function openRest(
  url: string,
  options: Partial<RestPetStoreOptions> = {},
  telemetry: Parameters<typeof openRestPetStore>[1] = quiet,
) {
  const baseUrl = new URL(`${url}/v1`);
  const messagesBaseUrl = new URL(`${url}/quickstart/`);
  return openRestPetStore({ baseUrl, messagesBaseUrl, timeoutMs: 10_000, ...options }, telemetry);
}

/** Starts a REST service that responds like this, by default with an empty list, and its gateway. */
export async function startRestGateway(
  respond: Parameters<typeof startUpstream>[0] = (_, response) => sendJson(response, 200, '[]'),
  options: TestOptions = {},
) {
  const upstream = await startUpstream(respond);
  const gateway = await startGateway({ petStore: openRest(upstream.url), ...options });
  return {
    ...gateway,
    upstream,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
