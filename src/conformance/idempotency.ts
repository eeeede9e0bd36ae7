import { randomUUID } from 'node:crypto';
import { decodeRecord } from '../contract/codec.ts';
import { text } from '../contract/fields.ts';
import {
  type Check,
  type CheckedService,
  check,
  type Finding,
  requestOf,
  type Subject,
} from './check.ts';
import { describe, expectStatus, readResponseJson, requireThat } from './expect.ts';
import type { ServiceResponse } from './http-client.ts';
import { givenFields, newId, validRecord } from './valid-body.ts';

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
 * Checks draft-ietf-httpapi-idempotency-key-header-07 for an operation that adds a record with a text, or
 * makes one of a text. Those that pass leave three.
 */
export function checkDoneOnce(subject: Subject): Check[] {
  type Post = (words?: string) => Promise<ServiceResponse>;
  const { operation, name, collection } = subject;
  const { body, response: type, parameters } = operation;
  if (operation.method !== 'POST' || parameters || typeof type !== 'object') return [];
  if (!('fields' in type) || body === undefined) return [];
  const isRecord = 'fields' in body;
  if (isRecord ? collection?.post !== operation || !givenFields(body).words : body.kind !== text) {
    return [];
  }
  const bodyWith = ({ known }: CheckedService, words: string, id: string) =>
    isRecord ? validRecord(body, known(collection?.list), { words, id }) : words;
  const rule = (id: string, rest: string, run: (post: Post) => Promise<string>) =>
    check(subject, `${name}-${id}`, ` with one Idempotency-Key ${rest}`, (service) => {
      const [idempotencyKey, recordId] = [randomUUID(), newId()];
      return run((words = 'Idempotency check') => {
        const sent = requestOf(operation, { body: bodyWith(service, words, recordId) });
        return service.send(operation, { ...sent, idempotencyKey });
      });
    });

  const idOf = (...responses: readonly ServiceResponse[]): string => {
    const ids = responses.map((response) => {
      requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
      return String(decodeRecord(type, readResponseJson(response))[type.id.name]);
    });
    const different = [...new Set(ids)].join(', ');
    requireThat(different === ids[0], `expected one id, received ${different}`);
    return different;
  };

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
