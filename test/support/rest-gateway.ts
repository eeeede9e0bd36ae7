import { createGateway, loadConfig } from '../../src/index.ts';
import { openRestPetStore, type RestPetStoreOptions } from '../../src/petstore/rest.ts';
import { owning } from './dispose.ts';
import { openKeys, startGateway, type TestOptions } from './gateway.ts';
import { openTelemetry, quiet } from './log.ts';
import { sendJson, startUpstream } from './upstream.ts';

/** Opens the REST backend for a service whose base URLs are `/v1` and `/quickstart` below this one. */
export function openRest(
  url: string,
  options: Partial<RestPetStoreOptions> = {},
  telemetry: Parameters<typeof openRestPetStore>[1] = quiet,
) {
  const baseUrl = new URL(`${url}/v1`);
  const messagesBaseUrl = new URL(`${url}/quickstart/`);
  const keys = openKeys();
  const all = { baseUrl, messagesBaseUrl, timeoutMs: 60_000, ...options };
  return { ...openRestPetStore(all, telemetry, keys), keys };
}

type Respond = Parameters<typeof startUpstream>[0];

const respondWithNone: Respond = (_, response) => sendJson(response, 200, '[]');

/**
 * Starts a REST service that responds like this, by default with an empty list, and opens the gateway
 * of the library with this environment.
 */
export async function openMountable(
  respond = respondWithNone,
  env: Readonly<Record<string, string>> = {},
) {
  const upstream = await startUpstream(respond);
  const telemetry = openTelemetry();
  const config = loadConfig({ PETSTORE_BASE_URL: `${upstream.url}/v1`, ...env });
  const gateway = await createGateway(config, telemetry.log);
  return { ...telemetry, gateway, upstream, ...owning(gateway, upstream) };
}

/** Starts a REST service that responds like this, by default with an empty list, and its gateway. */
export async function startRestGateway(respond = respondWithNone, options: TestOptions = {}) {
  const upstream = await startUpstream(respond);
  const gateway = await startGateway({ petStore: openRest(upstream.url), ...options });
  return {
    ...gateway,
    upstream,
    ...owning(gateway, upstream),
  };
}
