import { readBearer, redactKey } from '../contract/bearer.ts';
import { BackendUnavailableError, InvalidResponseError, PetStoreError } from '../contract/error.ts';
import { type Contract, isSafe, type Operation } from '../contract/operation.ts';
import { type Check, type CheckedService, type Finding, skip } from './check.ts';
import { createSend, type Send, type ServiceResponse } from './http-client.ts';

/** The checks of a contract. */
export interface ContractChecks<Known> {
  readonly contract: Contract;
  readonly checks: readonly Check<Known>[];
  /** Those of writes with an `Idempotency-Key`. */
  readonly idempotencyChecks: readonly Check<Known>[];
  /** The query string of the probe, which reads as many records as possible. */
  readonly search: string;
  /** Returns the records of the response, or none. @throws InvalidResponseError if it is no list */
  readonly read: (response?: ServiceResponse) => Known;
}

/** Options of `runChecks`. */
export interface RunOptions {
  /** The base URL of each service. Those of a service without one are not checked. */
  readonly baseUrls: Readonly<Record<string, URL | undefined>>;
  readonly apiKey: string;
  readonly write: boolean;
  readonly idempotency?: boolean;
  /** Time limit for one response, in milliseconds. */
  readonly timeoutMs: number;
}

/** A check and its finding. */
export type CheckResult = Finding & Pick<Check, 'id' | 'rule'>;

/** Runs all checks. @throws if there is no response, or the API key is malformed or refused. */
export async function runChecks<Known>(
  all: ContractChecks<Known>,
  { apiKey, baseUrls, write, idempotency, timeoutMs }: RunOptions,
): Promise<CheckResult[]> {
  const { operations } = all.contract;
  readBearer(`Bearer ${apiKey}`);
  const send = createSend(operations, baseUrls, apiKey, timeoutMs);
  const service = await openService(all, baseUrls, send);
  const results: CheckResult[] = [];
  const more = idempotency ? all.idempotencyChecks : [];
  for (const check of [...all.checks, ...more]) {
    const { id, rule, operation } = check;
    const { service: name, method } = operations[operation] as Operation;
    if (baseUrls[name] === undefined) continue;
    const isSkipped = !isSafe(method) && !write;
    const found = isSkipped ? skip('requires --write') : await runCheck(check, service);
    results.push({ id, rule, verdict: found.verdict, seen: redactKey(found.seen, apiKey) });
  }
  return results;
}

async function openService<Known>(
  { contract, search, read }: ContractChecks<Known>,
  baseUrls: RunOptions['baseUrls'],
  send: Send,
): Promise<CheckedService<Known>> {
  const { path, service } = contract.operations[contract.probe.id] as Operation;
  const version = contract.services[service]?.version ?? '';
  const { href = '', pathname = '' } = baseUrls[service] ?? {};
  try {
    const response = await send(contract.probe.id, { search });
    if (response.status === 401) {
      throw new Error(`${href} refused the API key (401). Check the key and the base URL.`);
    }
    if (response.status === 404 && !pathname.replace(/\/$/, '').endsWith(version)) {
      throw new Error(`${href} has no ${path} (404). Does the base URL lack ${version}?`);
    }
    return { send, known: read(response) };
  } catch (error) {
    if (error instanceof BackendUnavailableError) {
      throw new Error(`${href} could not be reached: ${error.message}.`);
    }
    // The checks of the list report what is wrong with it.
    if (error instanceof InvalidResponseError) return { send, known: read() };
    throw error;
  }
}

async function runCheck<Known>(
  check: Check<Known>,
  service: CheckedService<Known>,
): Promise<Finding> {
  try {
    const found = await check.run(service);
    return typeof found === 'string' ? { verdict: 'pass', seen: found } : found;
  } catch (error) {
    if (error instanceof PetStoreError) return { verdict: 'fail', seen: error.message };
    throw error;
  }
}
