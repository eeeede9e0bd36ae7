import type { OperationId } from '../contract/pet-store.ts';
import { type Check, type CheckedService, check, info } from './check.ts';
import { describe, expectError, expectStatus } from './expect.ts';
import type { ServiceRequest } from './http-client.ts';

type Refused = (service: CheckedService) => ServiceRequest;

/** Checks a refusal. The contract has no status for orders, and no Error body for messages. */
export function refusing(
  id: string,
  operation: OperationId,
  description: string,
  status: 400 | 401,
  request: Refused,
): Check {
  const isMessage = operation === 'sendMessage';
  const rule = ` ${description}: ${status}${isMessage ? '' : ' with an Error body'}`;
  return check(id, operation, rule, async (service) => {
    const response = await service.send(operation, request(service));
    const isOther = response.status >= 300 && response.status !== status;
    if (operation === 'listOrders' && isOther) return info(describe(response));
    if (!isMessage) return expectError(response, status);
    expectStatus(response, status);
    return describe(response);
  });
}

/** Checks that a service refuses a request without a key, and with a wrong one. */
export function withoutKey(
  id: string,
  operation: OperationId,
  request: Refused = () => ({}),
): Check[] {
  const keys = { 'no-key': null, 'wrong-key': 'not-a-key-of-this-service' };
  return Object.entries(keys).map(([suffix, apiKey]) => {
    const description = apiKey === null ? 'without a key' : 'with a wrong key';
    return refusing(`${id}-${suffix}`, operation, description, 401, (service) => ({
      ...request(service),
      apiKey,
    }));
  });
}
