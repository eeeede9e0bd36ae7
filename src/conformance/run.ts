import { driftOf } from '../contract/drift.ts';
import { BackendUnavailableError, InvalidResponseError, PetStoreError } from '../contract/error.ts';
import { operations } from '../contract/pet-store.ts';
import { type Check, type Finding, type Service, skip } from './check.ts';
import { expectPets, readJson, shown } from './expect.ts';
import { createSend, type Send } from './http-client.ts';
import { messageChecks } from './messages.ts';
import { readingChecks } from './reading.ts';
import { writingChecks } from './writing.ts';

/** Options of `checkContract`. */
export interface ServiceUnderCheck {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** If undefined, messages are not checked. */
  readonly messagesBaseUrl?: URL | undefined;
  /** Whether to send POST requests too. */
  readonly write: boolean;
  /** Time limit for one response, in milliseconds. */
  readonly timeoutMs: number;
}

/** A check and its finding. */
export type CheckResult = Finding & Pick<Check, 'id' | 'rule'>;

/** The service could not be checked: it did not respond, or it refused the API key. */
export class NotCheckedError extends Error {
  override readonly name = 'NotCheckedError';
}

/**
 * Checks a service against the contract, with one request at a time.
 * @throws NotCheckedError if the first request gets no response, or a 401.
 */
export async function checkContract(options: ServiceUnderCheck): Promise<CheckResult[]> {
  const { apiKey, baseUrl, messagesBaseUrl, write, timeoutMs } = options;
  const differences = new Set<string>();
  const sendTo = (url: URL) => observed(createSend(url, apiKey, timeoutMs), differences);
  const service = await openService(baseUrl, sendTo(baseUrl));
  const results: CheckResult[] = [];
  const run = async (checks: readonly Check[], on: Service, isWriting: boolean) => {
    for (const check of checks) {
      const { verdict, seen } =
        isWriting && !write ? skip('requires --write') : await runCheck(check, on);
      const { id, rule } = check;
      results.push({ id, rule, verdict, seen: masked(seen, apiKey) });
    }
  };
  await run(readingChecks, service, false);
  await run(writingChecks, service, true);
  if (messagesBaseUrl) {
    await run(messageChecks, { ...service, send: sendTo(messagesBaseUrl) }, true);
  }
  const rule = 'Every success: differences that the gateway counts in its metrics';
  const seen = masked([...differences].join('; ') || 'none', apiKey);
  return [...results, { id: 'drift', rule, verdict: 'info', seen }];
}

/** Collects how successes differ from the contract. */
function observed(send: Send, differences: Set<string>): Send {
  return async (path, request) => {
    const response = await send(path, request);
    const method = request?.body === undefined ? 'GET' : 'POST';
    const plain = path.replace(/\?.*/, '');
    const isLiteral = Object.values(operations).some((operation) => operation.path === plain);
    const shape = isLiteral ? plain : plain.replace(/^\/pets\/.*/, '/pets/{petId}');
    const found = Object.entries(operations).find(
      ([, one]) => one.method === method && one.path === shape,
    );
    if (found === undefined || response.status < 200 || response.status > 299) return response;
    const [id, operation] = found;
    const add = (text: string) => differences.add(`${id}: ${text}`);
    if (operation.status && operation.status !== response.status) add(`status ${response.status}`);
    try {
      const drifts = driftOf(operation, readJson(response));
      for (const { kind, field } of drifts) add(`${kind} ${shown(field)}`);
    } catch {
      // The checks report a body that is not JSON.
    }
    return response;
  };
}

async function openService(baseUrl: URL, send: Send): Promise<Service> {
  try {
    const response = await send('/pets?limit=100');
    const { href } = baseUrl;
    if (response.status === 401) {
      throw new NotCheckedError(
        `${href} refused the API key (401). Check the key and the base URL.`,
      );
    }
    if (response.status === 404 && !/\/v1\/?$/.test(baseUrl.pathname)) {
      throw new NotCheckedError(`${href} has no /pets (404). Does the base URL lack /v1?`);
    }
    return { send, animals: expectPets(response, 100) };
  } catch (error) {
    if (error instanceof BackendUnavailableError) {
      throw new NotCheckedError(`${baseUrl.href} could not be reached: ${error.message}.`);
    }
    // The checks of the list report what is wrong with it.
    if (error instanceof InvalidResponseError) return { send, animals: [] };
    throw error;
  }
}

async function runCheck(check: Check, service: Service): Promise<Finding> {
  try {
    const found = await check.run(service);
    return typeof found === 'string' ? { verdict: 'pass', seen: found } : found;
  } catch (error) {
    if (error instanceof PetStoreError) return { verdict: 'fail', seen: error.message };
    throw error;
  }
}

/** Masks the API key, which a service may repeat. A shorter key is no secret and may match any word. */
function masked(text: string, apiKey: string): string {
  return apiKey.length < 8 ? text : text.replaceAll(apiKey, '[API key]');
}
