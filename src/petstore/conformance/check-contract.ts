import type { Check, Finding } from '../../conformance/check.ts';
import {
  checkDoneOnce,
  servicesThatHonour as findServices,
} from '../../conformance/idempotency.ts';
import { type CheckResult, type RunOptions, runChecks } from '../../conformance/run.ts';
import { contract, operations } from '../operations.ts';
import { pageSize } from '../records.ts';
import { expectPets, type Pets } from './check.ts';
import { readingChecks } from './reading.ts';
import { bodyOf, validPet, writingChecks } from './writing.ts';

/** Options of `checkContract`. */
export interface ServiceUnderCheck extends Omit<RunOptions, 'baseUrls'> {
  /** The base URL, including `/v1`. */
  readonly baseUrl: URL;
  /** If undefined, messages are not checked. */
  readonly messagesBaseUrl?: URL | undefined;
}

/** The checks of writes with an `Idempotency-Key`. Passing adds three pets and messages. */
export const idempotencyChecks: readonly Check<Pets>[] = [
  ...checkDoneOnce<Pets>(operations, 'create', 'createPet', (name, { known }) =>
    bodyOf({ ...validPet(known), name }),
  ),
  ...checkDoneOnce<Pets>(operations, 'message', 'sendMessage', (message) =>
    JSON.stringify({ message }),
  ),
];

/** Runs all checks. @throws as `runChecks` does. */
export function checkContract({
  baseUrl,
  messagesBaseUrl,
  ...options
}: ServiceUnderCheck): Promise<CheckResult[]> {
  const checks = {
    contract,
    checks: [...readingChecks, ...writingChecks],
    idempotencyChecks,
    search: `?limit=${pageSize.maximum}`,
    read: (response?: Parameters<typeof expectPets>[0]) =>
      response ? expectPets(response, pageSize.maximum) : [],
  };
  return runChecks<Pets>(checks, {
    ...options,
    baseUrls: { pets: baseUrl, messages: messagesBaseUrl },
  });
}

/** Returns the services, `pets` and `messages`, whose checks with a key have all passed. */
export const servicesThatHonour = (results: readonly (Pick<Check, 'id'> & Finding)[]): string[] =>
  findServices(operations, idempotencyChecks, results);
