import { randomUUID } from 'node:crypto';
import { decodeRecord } from '../contract/codec.ts';
import type { Operation, Operations } from '../contract/operation.ts';
import type { RecordType } from '../contract/record.ts';
import { type Check, type CheckedService, defineChecks, type Finding } from './check.ts';
import { describe, expectStatus, readResponseJson, requireThat } from './expect.ts';
import type { ServiceResponse } from './http-client.ts';

/** Returns the services whose checks with a key have all passed. */
export function servicesThatHonour(
  operations: Operations,
  checks: readonly Check<never>[],
  results: readonly (Pick<Check, 'id'> & Finding)[],
): string[] {
  const passed = results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
  const services = Map.groupBy(checks, ({ operation }) => operations[operation]?.service ?? '');
  const isHonoured = (all: typeof checks) => all.every(({ id }) => passed.includes(id));
  return [...services].filter(([, all]) => isHonoured(all)).map(([service]) => service);
}

/**
 * Checks draft-ietf-httpapi-idempotency-key-header-07 for an operation that adds a record with an `id`.
 * Passing adds three.
 * @param bodyWith returns a body with a text, by which bodies differ
 */
export function checkDoneOnce<Known>(
  operations: Operations,
  prefix: string,
  operation: string,
  bodyWith: (text: string, service: CheckedService<Known>) => string,
): Check<Known>[] {
  type Post = (text?: string) => Promise<ServiceResponse>;
  const { check } = defineChecks<Known>(operations);
  const { response: type } = operations[operation] as Operation;
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
      return String(decodeRecord(type as RecordType, readResponseJson(response))['id']);
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
