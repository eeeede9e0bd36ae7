import { encodeRecord } from '../contract/codec.ts';
import { idFieldOf, type Member, type Operation, statusOf } from '../contract/operation.ts';
import type { Fields, NewRecordOf, RecordType } from '../contract/record.ts';
import {
  type AnyRecord,
  type Check,
  type CheckedService,
  check,
  type Finding,
  info,
  missing,
  parametersOf,
  recordOf,
  refusing,
  type Subject,
  unknownIdsOf,
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
import { bodyOf, givenFields, newId, validBody, validRecord } from './valid-body.ts';

/** Returns the checks of an operation that writes. Those that pass leave two records and a message. */
export function writingChecks(subject: Subject): Check[] {
  const { operation, others } = subject;
  const { body, method, path } = operation;
  // A service that ignores keys must not change a record.
  const [none] = unknownIdsOf(operation);
  const refused = withoutKey(subject, ({ known }) => ({
    ...parametersOf(operation, method === 'POST' ? undefined : none?.[2]),
    ...validBody(operation, known),
  }));
  if (body && 'member' in body) return [...refused, ...memberChecks(subject, body)];
  const invalid = body ? invalidBodies(subject, body) : [];
  const collection = path.replace(/\/\{\w+\}$/, '');
  const post = others.find((one) => one.method === 'POST' && one.path === collection);
  const type = post && recordOf(post);
  if (!post || !type) return [...refused, ...invalid];
  const more =
    post === operation ? addingChecks(subject, type) : changingChecks(subject, post, type);
  return [...refused, ...invalid, ...more];
}

/** Checks bodies without a required field or with an invalid value, for each field. */
function invalidBodies(subject: Subject, type: RecordType): Check[] {
  const { operation } = subject;
  const valid = encodeRecord(type, validRecord(operation, type) as NewRecordOf<Fields>);
  return givenFields(operation, type).given.flatMap(({ name, kind, isRequired }) => {
    const refused = (id: string, description: string, json?: string) => {
      const value = json === undefined ? undefined : JSON.rawJSON(json);
      const body = JSON.stringify({ ...valid, [name]: value });
      const sent = { ...parametersOf(operation), body };
      return refusing(subject, `${id}-${name}`, `${description} ${name}`, 400, () => sent);
    };
    const wrong = kind.invalid.map(([id, text, json]) => refused(id, `with ${text} as`, json));
    return isRequired ? [refused('no', 'without'), ...wrong] : wrong;
  });
}

/** Checks what adds a record: one with all fields, and one with extreme values of those that are required. */
function addingChecks(subject: Subject, type: RecordType): Check[] {
  const { operation, name } = subject;
  const { given, whole } = givenFields(operation, type);
  const status = statusOf(operation);
  const get = getterOf(subject, type);

  async function add({ send }: CheckedService, sent: AnyRecord): Promise<string | Finding> {
    const response = await send(operation, {
      ...parametersOf(operation),
      body: bodyOf(type, sent),
    });
    if (response.status === 400 && whole && sent[whole.name] === extremes.whole) {
      const seen = expectError(response, 400);
      const noun = whole.name.replace(/Id$/, '');
      return info(`${seen}; the contract does not specify whether the ${noun} must exist`);
    }
    const added: AnyRecord = expectRecord(type, response, status);
    expectSame(added, sent);
    const id = added[idFieldOf(get ?? operation, type).name];
    if (get) expectSame(expectRecord(type, await send(get, parametersOf(get, id)), 200), added);
    return `${status}, ${type.singular} ${id}`;
  }

  const isFound = get ? ', and GET returns it' : '';
  const rule = `: ${status} with the ${type.singular} and its id${isFound}`;
  const [value, kept] = whole ? [`a ${whole.name} of 2^63-1`, 'digits and '] : ['Unicode text', ''];
  const extremeRule = ` with ${value}: ${status}, ${kept}Unicode text preserved`;
  return [
    check(subject, name, rule, (service) =>
      add(service, validRecord(operation, type, service.known(type))),
    ),
    check(subject, `${name}-${whole ? 'int64' : 'unicode'}`, extremeRule, (service) => {
      const all = validRecord(operation, type, [], extremes);
      const required = given.filter(({ isRequired }) => isRequired);
      return add(
        service,
        Object.fromEntries(required.map((field) => [field.name, all[field.name]])),
      );
    }),
  ];
}

const extremes = { words: 'Überprüfung 🐕', whole: '9223372036854775807' };

/** Checks what replaces or removes a record, with one that it has added. */
function changingChecks(subject: Subject, post: Operation, type: RecordType): Check[] {
  const { operation, name } = subject;
  const { body, response } = operation;
  const { singular } = type;
  const isRemoval = operation.method === 'DELETE';
  const status = statusOf(operation);
  const get = getterOf(subject, type);
  const found = get ? `, and GET ${isRemoval ? 'no longer finds' : 'returns'} it` : '';
  const rule = isRemoval ? `: ${status}${found}` : ` with other values: ${status}${found}`;
  return [
    ...missing(
      subject,
      (received, id) => {
        expectStatus(received, status);
        if (response === type) expectRecord(type, received, status);
        return `${singular} ${id} may exist`;
      },
      ({ known }, id) => validBody(operation, known, { id }),
    ),
    check(subject, name, rule, async ({ send, known }) => {
      const id = newId();
      const request = { ...parametersOf(post), ...validBody(post, known, { id }) };
      const added: AnyRecord = expectRecord(type, await send(post, request), statusOf(post));
      const value = added[idFieldOf(operation, type).name];
      const chosen = { id, words: 'Another check' };
      const sent = { ...parametersOf(operation, value), ...validBody(operation, known, chosen) };
      const changed = await send(operation, sent);
      expectStatus(changed, status);
      const expected = body === type ? validRecord(operation, type, known(type), chosen) : {};
      if (response === type) expectSame(expectRecord(type, changed, status), expected);
      if (get) {
        const read = await send(get, parametersOf(get, value));
        if (isRemoval) expectError(read, 404);
        else expectSame(expectRecord(type, read, 200), expected);
      }
      return `${status}, ${singular} ${value}`;
    }),
  ];
}

/** Returns the operation that gets one record of a type by its id. */
function getterOf({ others }: Subject, type: RecordType): Operation | undefined {
  return others.find((one) => one.method === 'GET' && one.response === type);
}

/** Checks what receives one value, and responds with a record. */
function memberChecks(subject: Subject, body: Member): Check[] {
  const { operation, name } = subject;
  const { member, kind } = body;
  const type = recordOf(operation);
  const sent = { ...parametersOf(operation), ...validBody(operation, () => []) };
  const refused = (id: string, description: string, request: ServiceRequest) =>
    refusing(subject, id, description, 400, () => ({ ...sent, ...request }));
  const assigned = Object.values(type?.fields ?? {}).filter(({ isAssigned }) => isAssigned);
  const names = assigned.map((field) => field.name).join(', ');
  const rule = `: success with the ${member}, its ${names.replace(/, (\w+)$/, ' and $1')}`;
  return [
    refused(`no-${member}`, `without a ${member}`, { body: '{}' }),
    refused('no-json', 'with a body that is not JSON', { body: '{' }),
    refused('no-type', 'without a content type', { contentType: null }),
    check(subject, name, rule, async ({ send }) => {
      const response = await send(operation, sent);
      requireThat(response.ok, `expected a 2xx status, received ${describe(response)}`);
      if (type === undefined) return describe(response);
      const record: AnyRecord = expectRecord(type, response, response.status);
      expectSame(record, { [member]: kind.example });
      return `${response.status}, ${type.singular} ${record[idFieldOf(operation, type).name]}`;
    }),
  ];
}
