import { encodeRecord } from '../contract/codec.ts';
import { type Member, type Operation, statusOf } from '../contract/operation.ts';
import type { Fields, NewRecordOf, RecordType } from '../contract/record.ts';
import {
  type AnyRecord,
  type Check,
  type CheckedService,
  type Collection,
  check,
  type Finding,
  info,
  partsOf,
  type RequestOf,
  refusing,
  requestOf,
  type Subject,
  withoutKey,
} from './check.ts';
import {
  describe,
  expectError,
  expectRecord,
  expectSame,
  expectStatus,
  requireThat,
} from './expect.ts';
import type { ServiceRequest } from './http-client.ts';
import { givenFields, newId, validRecord } from './valid-body.ts';

/**
 * Returns the checks of an operation that writes: what adds a record to a collection, what replaces or
 * removes one, which they have added, and what receives one value. What others would change is not known.
 */
export function writingChecks(subject: Subject): Check[] {
  const { operation, collection } = subject;
  const { body, parameters } = operation;
  if (collection?.post === operation) return addingChecks(subject, collection);
  if (parameters) {
    const { post } = collection ?? {};
    return collection && post ? changingChecks(subject, { ...collection, post }) : [];
  }
  return body && 'member' in body ? memberChecks(subject, body) : [];
}

/** Checks bodies without a required field or with an invalid value, for each field. */
function invalidBodies(subject: Subject, type: RecordType): Check[] {
  const valid = encodeRecord(type, validRecord(type) as NewRecordOf<Fields>);
  return givenFields(type).given.flatMap(({ name, kind, isRequired }) => {
    const refused = (id: string, description: string, json?: string) => {
      const value = json === undefined ? undefined : JSON.rawJSON(json);
      const sent = {
        path: subject.operation.path,
        body: JSON.stringify({ ...valid, [name]: value }),
      };
      return refusing(subject, `${id}-${name}`, `${description} ${name}`, 400, () => sent);
    };
    const wrong = kind.invalid.map(([id, text, json]) => refused(id, `with ${text} as`, json));
    return isRequired ? [refused('no', 'without'), ...wrong] : wrong;
  });
}

const extremes = { words: 'Überprüfung 🐕', whole: '9223372036854775807' };

/** Checks what adds a record: one with all fields, and one with extreme values of those that are required. */
function addingChecks(subject: Subject, { type, list, get }: Collection): Check[] {
  const { operation, name } = subject;
  const { given, whole } = givenFields(type);
  const status = statusOf(operation);
  const valid = ({ known }: CheckedService) => validRecord(type, known(list));

  async function add({ send }: CheckedService, sent: AnyRecord): Promise<string | Finding> {
    const response = await send(operation, requestOf(operation, { body: sent }));
    if (response.status === 400 && whole && sent[whole.name] === extremes.whole) {
      const seen = expectError(response, 400);
      const noun = whole.name.replace(/Id$/, '');
      return info(`${seen}; the contract does not specify whether the ${noun} must exist`);
    }
    const added: AnyRecord = expectRecord(type, response, status);
    expectSame(added, sent);
    const id = added[type.id.name];
    if (get) {
      const found = await send(get, requestOf(get, partsOf(get, id)));
      expectSame(expectRecord(type, found, 200), added);
    }
    return `${status}, ${type.singular} ${id}`;
  }

  const rule = `: ${status} with the ${type.singular} and its id${get ? ', and GET returns it' : ''}`;
  const [value, kept] = whole ? [`a ${whole.name} of 2^63-1`, 'digits and '] : ['Unicode text', ''];
  const extremeRule = ` with ${value}: ${status}, ${kept}Unicode text preserved`;
  return [
    ...withoutKey(subject, (service) => requestOf(operation, { body: valid(service) })),
    ...invalidBodies(subject, type),
    check(subject, name, rule, (service) => add(service, valid(service))),
    check(subject, `${name}-${whole ? 'int64' : 'unicode'}`, extremeRule, (service) => {
      const all = validRecord(type, [], extremes);
      const required = given.filter(({ isRequired }) => isRequired);
      return add(service, Object.fromEntries(required.map((one) => [one.name, all[one.name]])));
    }),
  ];
}

/** Checks what replaces or removes a record, with those that the checks add. */
function changingChecks(
  subject: Subject,
  { type, list, get, post }: Collection & { readonly post: Operation },
): Check[] {
  const { operation, name } = subject;
  const isRemoval = operation.method === 'DELETE';
  const status = statusOf(operation);
  const found = get ? `, and GET ${isRemoval ? 'no longer finds' : 'returns'} it` : '';
  const rule = `${isRemoval ? '' : ' with other values'}: ${status}${found}`;

  /** Adds a record. Returns its id, other values, and the request that changes it. */
  async function add({ send, known }: CheckedService) {
    const chosen = { id: newId() };
    const body = validRecord(type, known(list), chosen);
    const response = await send(post, requestOf(post, { body }));
    const added: AnyRecord = expectRecord(type, response, statusOf(post));
    const id = added[type.id.name];
    const other = validRecord(type, known(list), { ...chosen, words: 'Another check' });
    const parts = { ...partsOf(operation, id), ...(operation.body && { body: other }) };
    return { id, other, request: requestOf(operation, parts) };
  }
  const refused: RequestOf = async (service) => (await add(service)).request;
  return [
    ...withoutKey(subject, refused),
    check(subject, name, rule, async (service) => {
      const { send } = service;
      const { id, other, request } = await add(service);
      const changed = await send(operation, request);
      expectStatus(changed, status);
      if (operation.response === type) expectSame(expectRecord(type, changed, status), other);
      const read = get && (await send(get, requestOf(get, partsOf(get, id))));
      if (read && isRemoval) expectError(read, 404);
      else if (read) expectSame(expectRecord(type, read, 200), other);
      return `${status}, ${type.singular} ${id}`;
    }),
  ];
}

/** Checks what receives one value, and may respond with a record. */
function memberChecks(subject: Subject, { member, kind }: Member): Check[] {
  const { operation, name } = subject;
  const { response: shape } = operation;
  const type = typeof shape === 'object' && 'fields' in shape ? shape : undefined;
  const sent = requestOf(operation, { body: kind.example });
  const refused = (id: string, description: string, request: Partial<ServiceRequest>) =>
    refusing(subject, id, description, 400, () => ({ ...sent, ...request }));
  const assigned = Object.values(type?.fields ?? {}).filter(({ isAssigned }) => isAssigned);
  const names = assigned.map((field) => field.name).join(', ');
  const its = type ? `, its ${names.replace(/, (\w+)$/, ' and $1')}` : '';
  return [
    ...withoutKey(subject, () => sent),
    refused(`no-${member}`, `without a ${member}`, { body: '{}' }),
    refused('no-json', 'with a body that is not JSON', { body: '{' }),
    refused('no-type', 'without a content type', { contentType: null }),
    check(subject, name, `: success with the ${member}${its}`, async ({ send }) => {
      const response = await send(operation, sent);
      requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
      if (type === undefined) return describe(response);
      const record: AnyRecord = expectRecord(type, response, response.status);
      if (member in type.fields) expectSame(record, { [member]: kind.example });
      return `${response.status}, ${type.singular} ${record[type.id.name]}`;
    }),
  ];
}
