import { openRestBackend, type RestOptions } from '../backends/rest/backend.ts';
import type { KeyedCaller } from '../keys/api-key.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Reporting } from '../telemetry/telemetry.ts';
import type { TlsFiles } from '../tls-files.ts';
import { contract, type PetStore, type services } from './operations.ts';

/** Options of the REST service, as the configuration has them. */
export interface RestPetStoreOptions extends Omit<RestOptions, 'baseUrls'> {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  /** The base URL of `POST /messages`; if undefined, messages cannot be sent. */
  readonly messagesBaseUrl: URL | undefined;
  /** Which services honour `Idempotency-Key`. */
  readonly honouring?: 'off' | 'on' | keyof typeof services;
}

/** Returns the base URL of each service. */
export const baseUrlsOf = ({
  baseUrl,
  messagesBaseUrl,
}: Pick<RestPetStoreOptions, 'baseUrl' | 'messagesBaseUrl'>) => ({
  pets: baseUrl,
  messages: messagesBaseUrl,
});

/** Opens the REST service. Connects on the first call. @throws as `readTlsFiles` does. */
export function openRestPetStore(
  options: RestPetStoreOptions,
  telemetry: Reporting,
  keys: ApiKeys,
): PetStore<KeyedCaller> & { reload(files: TlsFiles): void } {
  return openRestBackend(contract, { ...options, baseUrls: baseUrlsOf(options) }, telemetry, keys);
}
