import type { Operation, Operations } from '../contract/operation.ts';
import { describe, expectError, expectStatus } from './expect.ts';
import type { Send, ServiceRequest } from './http-client.ts';

/** The service under check, with some of its records. */
export interface CheckedService<Known = unknown> {
  readonly send: Send;
  readonly known: Known;
}

/** The verdict of a check, and what the service did. */
export interface Finding {
  /** `info` if the contract does not specify the behaviour, `skip` if nothing could be checked. */
  readonly verdict: 'pass' | 'fail' | 'info' | 'skip';
  readonly seen: string;
}

/** A rule of the contract, or something that it does not specify, and how to check it. */
export interface Check<Known = unknown> {
  readonly id: string;
  readonly operation: string;
  readonly rule: string;
  /** Resolves to what was right, or another finding. @throws PetStoreError, which fails it. */
  readonly run: (service: CheckedService<Known>) => Promise<string | Finding>;
}

/** The contract does not specify this behaviour; it is only reported. */
export function info(seen: string): Finding {
  return { verdict: 'info', seen };
}

/** The check did not run, or could not decide. */
export function skip(reason: string): Finding {
  return { verdict: 'skip', seen: reason };
}

/** Returns what creates the checks of these operations, which know such records. */
export function defineChecks<Known>(operations: Operations) {
  type Refused = (service: CheckedService<Known>) => ServiceRequest;
  const operationOf = (id: string) => operations[id] as Operation;

  /** Creates the check of an operation; its rule follows the method and path. */
  function check(id: string, operation: string, rule: string, run: Check<Known>['run']) {
    const { method, path } = operationOf(operation);
    return { id, operation, rule: `${method} ${path}${rule}`, run };
  }

  /** Checks a refusal, as far as the contract publishes it. */
  function refusing(
    id: string,
    operation: string,
    description: string,
    status: 400 | 401,
    request: Refused,
  ): Check<Known> {
    const { refusal } = operationOf(operation);
    const hasBody = refusal !== 'status';
    const rule = ` ${description}: ${status}${hasBody ? ' with an Error body' : ''}`;
    return check(id, operation, rule, async (service) => {
      const response = await service.send(operation, request(service));
      const isOther = response.status >= 300 && response.status !== status;
      if (refusal === 'unpublished' && isOther) return info(describe(response));
      if (hasBody) return expectError(response, status);
      expectStatus(response, status);
      return describe(response);
    });
  }

  /** Checks that a service refuses a request without a key, and with a wrong one. */
  function withoutKey(
    id: string,
    operation: string,
    request: Refused = () => ({}),
  ): Check<Known>[] {
    const keys = { 'no-key': null, 'wrong-key': 'not-a-key-of-this-service' };
    return Object.entries(keys).map(([suffix, apiKey]) => {
      const description = apiKey === null ? 'without a key' : 'with a wrong key';
      return refusing(`${id}-${suffix}`, operation, description, 401, (service) => ({
        ...request(service),
        apiKey,
      }));
    });
  }

  /** Reports what the contract does not specify. */
  function unspecified(id: string, operation: string, search = ''): Check<Known> {
    return check(id, operation, search, async ({ send }) =>
      info(describe(await send(operation, { search }))),
    );
  }

  return { check, refusing, withoutKey, unspecified };
}
