import { InvalidResponseError } from '../contract/error.ts';
import { type OperationId, operations } from '../contract/pet-store.ts';
import type { Pet } from '../contract/records.ts';
import type { Send } from './http-client.ts';

/** The service under check, with some of its pets. */
export interface CheckedService {
  readonly send: Send;
  /** Up to 100 pets; empty if the list could not be read. */
  readonly pets: readonly Pet[];
}

/** The verdict of a check, and what the service did. */
export interface Finding {
  /** `info` if the contract does not specify the behaviour, `skip` if nothing could be checked. */
  readonly verdict: 'pass' | 'fail' | 'info' | 'skip';
  readonly seen: string;
}

/** A rule of the contract, or something that it does not specify, and how to check it. */
export interface Check {
  readonly id: string;
  readonly operation: OperationId;
  readonly rule: string;
  /** Resolves to what was right, or another finding. @throws PetStoreError, which fails it. */
  readonly run: (service: CheckedService) => Promise<string | Finding>;
}

/** Creates the check of an operation; its rule follows the method and path. */
export function check(id: string, operation: OperationId, rule: string, run: Check['run']): Check {
  const { method, path } = operations[operation];
  return { id, operation, rule: `${method} ${path}${rule}`, run };
}

/** Requires something. @throws InvalidResponseError with the expected and the received value. */
export function requireThat(isMet: boolean, problem: string): asserts isMet {
  if (!isMet) throw new InvalidResponseError(problem);
}

/** The contract does not specify this behaviour; it is only reported. */
export function info(seen: string): Finding {
  return { verdict: 'info', seen };
}

/** The check did not run, or could not decide. */
export function skip(reason: string): Finding {
  return { verdict: 'skip', seen: reason };
}
