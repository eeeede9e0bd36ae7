import { randomUUID } from 'node:crypto';
import { decodeMessage, decodePet } from '../contract/codec.ts';
import { type OperationId, operations } from '../contract/pet-store.ts';
import { type Check, type CheckedService, check, type Finding, requireThat } from './check.ts';
import { describe, expectStatus, readResponseJson } from './expect.ts';
import type { ServiceResponse } from './http-client.ts';
import { bodyOf, validPet } from './writing.ts';

/** Checks draft-ietf-httpapi-idempotency-key-header-07. Passing adds three pets and messages. */
export const idempotencyChecks: readonly Check[] = [
  ...doneOnce('create', 'createPet', decodePet, (name, { pets }) =>
    bodyOf({ ...validPet(pets), name }),
  ),
  ...doneOnce('message', 'sendMessage', decodeMessage, (message) => JSON.stringify({ message })),
];

/** Returns the services, `pets` and `messages`, whose checks have all passed. */
export function servicesThatHonour(results: readonly (Pick<Check, 'id'> & Finding)[]): string[] {
  const passed = results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
  const services = Map.groupBy(idempotencyChecks, ({ operation }) => operations[operation].service);
  const isHonoured = (checks: readonly Check[]) => checks.every(({ id }) => passed.includes(id));
  return [...services].filter(([, checks]) => isHonoured(checks)).map(([service]) => service);
}

function doneOnce(
  prefix: string,
  operation: OperationId,
  decode: (json: unknown) => { readonly id: string },
  bodyWith: (text: string, service: CheckedService) => string,
): Check[] {
  type Post = (text?: string) => Promise<ServiceResponse>;
  const rule = (id: string, text: string, run: (post: Post) => Promise<string>) =>
    check(`${prefix}-${id}`, operation, ` with one Idempotency-Key ${text}`, (service) => {
      const idempotencyKey = randomUUID();
      return run((value = 'Idempotency check') =>
        service.send(operation, { body: bodyWith(value, service), idempotencyKey }),
      );
    });

  function idOf(...responses: readonly ServiceResponse[]): string {
    const ids = responses.map((response) => {
      requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
      return decode(readResponseJson(response)).id;
    });
    const different = [...new Set(ids)].join(', ');
    requireThat(different === ids[0], `expected one id, received ${different}`);
    return different;
  }

  return [
    rule(
      'again',
      'twice: the same result',
      async (post) => `id ${idOf(await post(), await post())}`,
    ),
    rule('in-flight', 'four times at once: done once, others get that or 409', async (post) => {
      const sent = await Promise.all([post(), post(), post(), post()]);
      const answered = sent.filter(({ status }) => status !== 409);
      return `id ${idOf(...answered, await post())}, 409 to ${sent.length - answered.length}`;
    }),
    rule('reused', 'and other values: 422', async (post) => {
      idOf(await post());
      const response = await post('Another idempotency check');
      expectStatus(response, 422);
      return describe(response);
    }),
  ];
}
