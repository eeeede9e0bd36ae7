import { readBearer, redactKey } from '../contract/bearer.ts';
import { BackendUnavailableError, InvalidResponseError, PetStoreError } from '../contract/error.ts';
import { operations } from '../contract/pet-store.ts';
import { type Check, type CheckedService, type Finding, skip } from './check.ts';
import { expectPets } from './expect.ts';
import { createSend, type Send } from './http-client.ts';
import { idempotencyChecks } from './idempotency.ts';
import { readingChecks } from './reading.ts';
import { writingChecks } from './writing.ts';

/** Options of `checkContract`. */
export interface ServiceUnderCheck {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** If undefined, messages are not checked. */
  readonly messagesBaseUrl?: URL | undefined;
  readonly write: boolean;
  readonly idempotency?: boolean;
  /** Time limit for one response, in milliseconds. */
  readonly timeoutMs: number;
}

/** A check and its finding. */
export type CheckResult = Finding & Pick<Check, 'id' | 'rule'>;

/** Runs all checks. @throws if there is no response, or the API key is malformed or refused. */
export async function checkContract(options: ServiceUnderCheck): Promise<CheckResult[]> {
  const { apiKey, baseUrl, messagesBaseUrl, write, idempotency, timeoutMs } = options;
  readBearer(`Bearer ${apiKey}`);
  const baseUrls = { pets: baseUrl, messages: messagesBaseUrl };
  const send = createSend(baseUrls, apiKey, timeoutMs);
  const service = await openService(baseUrl, send);
  const results: CheckResult[] = [];
  const more = idempotency ? idempotencyChecks : [];
  for (const check of [...readingChecks, ...writingChecks, ...more]) {
    const { id, rule, operation } = check;
    if (baseUrls[operations[operation].service] === undefined) continue;
    const isSkipped = operations[operation].method === 'POST' && !write;
    const found = isSkipped ? skip('requires --write') : await runCheck(check, service);
    results.push({ id, rule, verdict: found.verdict, seen: redactKey(found.seen, apiKey) });
  }
  return results;
}

async function openService(baseUrl: URL, send: Send): Promise<CheckedService> {
  try {
    const response = await send('listPets', { search: '?limit=100' });
    const { href } = baseUrl;
    if (response.status === 401) {
      throw new Error(`${href} refused the API key (401). Check the key and the base URL.`);
    }
    if (response.status === 404 && !/\/v1\/?$/.test(baseUrl.pathname)) {
      throw new Error(`${href} has no /pets (404). Does the base URL lack /v1?`);
    }
    return { send, pets: expectPets(response, 100) };
  } catch (error) {
    if (error instanceof BackendUnavailableError) {
      throw new Error(`${baseUrl.href} could not be reached: ${error.message}.`);
    }
    // The checks of the list report what is wrong with it.
    if (error instanceof InvalidResponseError) return { send, pets: [] };
    throw error;
  }
}

async function runCheck(check: Check, service: CheckedService): Promise<Finding> {
  try {
    const found = await check.run(service);
    return typeof found === 'string' ? { verdict: 'pass', seen: found } : found;
  } catch (error) {
    if (error instanceof PetStoreError) return { verdict: 'fail', seen: error.message };
    throw error;
  }
}
