import { randomUUID } from 'node:crypto';
import { decodeMessage, decodePet } from '../contract/codec.ts';
import type { OperationId } from '../contract/pet-store.ts';
import { type Check, type CheckedService, check, requireThat } from './check.ts';
import { describe, expectStatus, readResponseJson } from './expect.ts';
import type { ServiceResponse } from './http-client.ts';
import { bodyOf, validPet } from './writing.ts';

/**
 * The checks of `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07), which the contract does not
 * have. A service that passes has three more animals and three messages.
 */
export const idempotencyChecks: readonly Check[] = [
  ...doneOnce('create', 'createPet', decodePet, (name, { animals }) =>
    bodyOf({ ...validPet(animals), name }),
  ),
  ...doneOnce('message', 'sendMessage', decodeMessage, (message) => JSON.stringify({ message })),
];

/** Checks that the writes of an operation are done once per key. */
function doneOnce(
  prefix: string,
  operation: OperationId,
  decode: (json: unknown) => { readonly id: string },
  bodyWith: (text: string, service: CheckedService) => string,
): Check[] {
  const post = (service: CheckedService, idempotencyKey: string, text = 'Idempotency check') =>
    service.send(operation, { body: bodyWith(text, service), idempotencyKey });

  function idOf(response: ServiceResponse): string {
    requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
    return decode(readResponseJson(response)).id;
  }

  /** Returns the id that all responses have. */
  function oneId(responses: readonly ServiceResponse[]): string {
    const ids = [...new Set(responses.map(idOf))];
    requireThat(ids.length === 1, `expected one id, received ${ids.join(', ')}`);
    return String(ids);
  }

  const rule = (text: string) => ` with one Idempotency-Key ${text}`;
  return [
    check(`${prefix}-again`, operation, rule('twice: the same result'), async (service) => {
      const key = randomUUID();
      return `id ${oneId([await post(service, key), await post(service, key)])} twice`;
    }),
    check(
      `${prefix}-in-flight`,
      operation,
      rule('four times at once: done once, others get that or 409'),
      async (service) => {
        const key = randomUUID();
        const sent = await Promise.all(Array.from({ length: 4 }, () => post(service, key)));
        const answered = sent.filter(({ status }) => status !== 409);
        const id = oneId([...answered, await post(service, key)]);
        return `id ${id}, 409 to ${sent.length - answered.length}`;
      },
    ),
    check(`${prefix}-reused`, operation, rule('and other values: 422'), async (service) => {
      const key = randomUUID();
      idOf(await post(service, key));
      const response = await post(service, key, 'Another idempotency check');
      expectStatus(response, 422);
      return describe(response);
    }),
  ];
}
