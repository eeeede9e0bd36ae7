import { randomUUID } from 'node:crypto';
import { decodeRecord } from '../contract/codec.ts';
import { idFieldOf } from '../contract/operation.ts';
import { type Check, check, type Finding, parametersOf, recordOf, type Subject } from './check.ts';
import { describe, expectStatus, readResponseJson, requireThat } from './expect.ts';
import type { ServiceResponse } from './http-client.ts';
import { newId, validBody } from './valid-body.ts';

/** Returns the services whose checks with a key have all passed. */
export function servicesThatHonour(
  checks: readonly Check[],
  results: readonly (Pick<Check, 'id'> & Finding)[],
): string[] {
  const passed = results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
  const services = Map.groupBy(checks, ({ operation }) => operation.service);
  const isHonoured = (all: typeof checks) => all.every(({ id }) => passed.includes(id));
  return [...services].filter(([, all]) => isHonoured(all)).map(([service]) => service);
}

/**
 * Checks draft-ietf-httpapi-idempotency-key-header-07 for an operation that adds a record. Those that pass
 * leave three.
 */
export function checkDoneOnce(subject: Subject): Check[] {
  type Post = (words?: string) => Promise<ServiceResponse>;
  const { operation, name } = subject;
  const type = recordOf(operation);
  if (operation.method !== 'POST' || type === undefined) return [];
  const rule = (id: string, text: string, run: (post: Post) => Promise<string>) =>
    check(subject, `${name}-${id}`, ` with one Idempotency-Key ${text}`, ({ send, known }) => {
      const [idempotencyKey, id] = [randomUUID(), newId()];
      return run((words = 'Idempotency check') =>
        send(operation, {
          ...parametersOf(operation),
          ...validBody(operation, known, { words, id }),
          idempotencyKey,
        }),
      );
    });

  function idOf(...responses: readonly ServiceResponse[]): string {
    const ids = responses.map((response) => {
      requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
      const record = decodeRecord(type as NonNullable<typeof type>, readResponseJson(response));
      return String(record[idFieldOf(operation, type as NonNullable<typeof type>).name]);
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
