import { InvalidResponseError } from '../contract/error.ts';
import { createAsk, NoAnswer } from './ask.ts';
import { type Check, ContractBreak, type Finding, type Service, skip } from './check.ts';
import { expectPets } from './expect.ts';
import { messageChecks } from './messages.ts';
import { readingChecks } from './reading.ts';
import { writingChecks } from './writing.ts';

/** The service to check, and how far to go. */
export interface ServiceUnderCheck {
  /** `/v1` included. */
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Without it nothing is said of messages. */
  readonly messagesBaseUrl?: URL | undefined;
  /** Without it only GET requests are sent. */
  readonly write: boolean;
  /** How long one answer may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** A check and what it found. */
export interface CheckResult extends Finding {
  readonly id: string;
  readonly rule: string;
}

/** Nothing can be said of the service: it gives no answer, or does not take the key. */
export class NotCheckedError extends Error {
  override readonly name = 'NotCheckedError';
}

/**
 * Holds a service to the contract, one request after the other.
 * @throws NotCheckedError when the first one gets no answer, or a 401.
 */
export async function checkContract(options: ServiceUnderCheck): Promise<CheckResult[]> {
  const { apiKey, baseUrl, messagesBaseUrl, write, timeoutMs } = options;
  const service = await openService(baseUrl, apiKey, timeoutMs);
  const results: CheckResult[] = [];
  const run = async (checks: readonly Check[], on: Service, changes: boolean) => {
    for (const check of checks) {
      const { verdict, seen } =
        changes && !write ? skip('only with --write') : await look(check, on);
      const { id, rule } = check;
      results.push({ id, rule, verdict, seen: masked(seen, apiKey) });
    }
  };
  await run(readingChecks, service, false);
  await run(writingChecks, service, true);
  if (messagesBaseUrl) {
    await run(messageChecks, { ...service, ask: createAsk(messagesBaseUrl, timeoutMs) }, true);
  }
  return results;
}

async function openService(baseUrl: URL, apiKey: string, timeoutMs: number): Promise<Service> {
  const ask = createAsk(baseUrl, timeoutMs);
  try {
    const reply = await ask('/pets?limit=100', { apiKey });
    if (reply.status === 401) throw new NotCheckedError(`${baseUrl.href} refuses the API key.`);
    if (reply.status === 404 && !/\/v1\/?$/.test(baseUrl.pathname)) {
      throw new NotCheckedError(`${baseUrl.href} has no /pets (404). Is /v1 missing at its end?`);
    }
    return { ask, apiKey, animals: expectPets(reply, 100) };
  } catch (error) {
    if (error instanceof NoAnswer) {
      throw new NotCheckedError(`${baseUrl.href} can not be reached: ${error.message}.`);
    }
    // What is wrong with the list is told by its own checks.
    if (isBreak(error)) return { ask, apiKey, animals: [] };
    throw error;
  }
}

async function look(check: Check, service: Service): Promise<Finding> {
  try {
    return await check.run(service);
  } catch (error) {
    if (isBreak(error) || error instanceof NoAnswer)
      return { verdict: 'fail', seen: error.message };
    throw error;
  }
}

function isBreak(error: unknown): error is Error {
  return error instanceof ContractBreak || error instanceof InvalidResponseError;
}

/** A service may repeat the key in its answers. A shorter one is no secret, and part of any word. */
function masked(text: string, apiKey: string): string {
  return apiKey.length < 8 ? text : text.replaceAll(apiKey, '[API key]');
}
