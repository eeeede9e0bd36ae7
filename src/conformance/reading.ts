import { int64 } from '../contract/fields.ts';
import { shown } from '../contract/json.ts';
import { type List, type Operation, statusOf } from '../contract/operation.ts';
import { createResponseReader } from '../contract/request.ts';
import {
  type AnyRecord,
  type Check,
  type Collection,
  check,
  info,
  listOf,
  partsOf,
  type RequestOf,
  requestOf,
  type Subject,
  skip,
  unspecified,
  withoutKey,
} from './check.ts';
import {
  expectError,
  expectList,
  expectRecord,
  expectStatus,
  formatCount,
  readText,
  requireThat,
} from './expect.ts';

/** Returns the checks of an operation that only reads. */
export function readingChecks(subject: Subject): Check[] {
  const { operation, collection } = subject;
  const list = listOf(operation);
  const ofOne = collection?.get === operation ? collection : undefined;
  const request: RequestOf = ({ known }) => {
    const one = ofOne && greatest(ofOne, known(ofOne.list));
    return requestOf(operation, one && partsOf(operation, one[ofOne.type.id.name]));
  };
  return [
    ...withoutKey(subject, request),
    ...(list ? listChecks(subject, list) : ofOne ? recordChecks(subject, ofOne) : [other(subject)]),
    ...removalChecks(subject, request),
  ];
}

/** Returns the record with the greatest int64 as its id, which loses digits first if the service rounds. */
function greatest({ type }: Collection, records: readonly AnyRecord[]): AnyRecord | undefined {
  const { name, kind } = type.id;
  if (kind !== int64) return records.at(-1);
  const idOf = (record: AnyRecord) => BigInt(record[name] as string);
  return records.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1))[0];
}

function listChecks(subject: Subject, list: List): Check[] {
  const { operation, name, prefix } = subject;
  const { query = {}, parameters } = operation;
  const sizes = Object.entries(query).flatMap(([parameter, { limits }]) =>
    limits ? [{ parameter, limits }] : [],
  );
  const rule = '200 with an array of at most';
  const checks = [listing(subject, list, name, '', rule, sizes[0]?.limits.default)];
  for (const { parameter, limits } of sizes) {
    const { minimum, maximum } = limits;
    for (const limit of [minimum, maximum]) {
      const id = `${prefix}${parameter}-${limit}`;
      checks.push(listing(subject, list, id, `?${parameter}=${limit}`, 'at most', limit));
    }
    for (const limit of [minimum - 1, maximum + 1]) {
      const id = `${prefix}${parameter}-${limit}`;
      checks.push(unspecified(subject, id, `?${parameter}=${limit}`));
    }
  }
  // Of a list with parameters, it is not known what it lacks.
  const filters = Object.entries(query).filter(([, { filters: is }]) => is && !parameters);
  for (const [parameter, { kind }] of filters) {
    const id = filters.length > 1 ? `filter-${parameter}` : 'filter';
    for (const value of kind.values ?? [undefined]) {
      const filter = filtering(subject, list, parameter, value, `${prefix}${id}`);
      checks.push(filter);
    }
    if (kind.values) {
      checks.push(unspecified(subject, `${prefix}${id}-unknown`, `?${parameter}=unknown`));
    }
  }
  return checks;
}

function listing(
  subject: Subject,
  list: List,
  id: string,
  search: string,
  rule: string,
  limit = list.maximum,
): Check {
  const { operation } = subject;
  const { listOf: type } = list;
  return check(subject, id, `${search}: ${rule} ${formatCount(type, limit)}`, async ({ send }) => {
    const { path } = requestOf(operation);
    const response = await send(operation, { path: path + search });
    if (response.status === 404 && operation.parameters) return skip('the example is unknown');
    return `200, ${formatCount(type, expectList(list, response, limit).length)}`;
  });
}

/** Checks a filter by a value, or by that of any record. */
function filtering(subject: Subject, list: List, name: string, filter: unknown, id: string): Check {
  const { operation } = subject;
  const { singular, plural, id: idField } = list.listOf;
  const rule =
    filter === undefined
      ? `?${name}=…: all ${plural} with the ${name} of one, and no others`
      : `?${name}=${filter}: all ${plural} of this ${name}, and no others`;
  return check(subject, filter ? `${id}-${filter}` : id, rule, async ({ send, known }) => {
    const records = known(operation);
    const value = filter ?? records.find((record) => record[name] !== undefined)?.[name];
    if (value === undefined) return skip(`the list has no ${singular} with a ${name}`);
    const response = await send(operation, requestOfAll(operation, { [name]: value }));
    const filtered: readonly AnyRecord[] = expectList(list, response, list.maximum);
    for (const record of filtered) {
      const problem = `${name} of ${singular} ${record[idField.name]}: expected ${shown(value)}, received ${shown(record[name])}`;
      requireThat(record[name] === value, problem);
    }
    const ids = new Set(filtered.map((record) => record[idField.name]));
    const missed = records.find(
      (record) => record[name] === value && !ids.has(record[idField.name]),
    );
    // It may be on a later page of a full list; the contract does not specify paging.
    requireThat(
      missed === undefined || filtered.length === list.maximum,
      `${singular} ${missed?.[idField.name]} has this ${name} but is not in the list of ${filtered.length}`,
    );
    return `200, ${formatCount(list.listOf, filtered.length)}`;
  });
}

/** Returns the request for as many records of a list as possible. */
export function requestOfAll(operation: Operation, filters: AnyRecord = {}) {
  const limits = Object.entries(operation.query ?? {}).flatMap(([name, { limits: of }]) =>
    of ? [[name, of.maximum]] : [],
  );
  return requestOf(operation, { ...Object.fromEntries(limits), ...filters });
}

function recordChecks(subject: Subject, collection: Collection): Check[] {
  const { operation, name } = subject;
  const { type, list } = collection;
  const { singular, id } = type;
  async function get({ send }: Parameters<Check['run']>[0], value: unknown, isKnown = true) {
    const response = await send(operation, requestOf(operation, partsOf(operation, value)));
    if (!isKnown && response.status !== 200) return expectError(response, 404);
    const { [id.name]: received }: AnyRecord = expectRecord(type, response, statusOf(operation));
    const problem = `expected ${singular} ${value}, received ${singular} ${received}`;
    requireThat(received === value, problem);
    return isKnown ? `200, ${singular} ${value}` : skip(`${singular} ${value} exists`);
  }
  const digits = id.kind.isText ? '' : ', every digit exact';
  const unknown = Object.values(operation.parameters ?? {}).at(-1)?.unknown ?? [];
  return [
    check(subject, name, `: 200 with the ${singular} of this id${digits}`, async (service) => {
      const known = greatest(collection, service.known(list));
      return known ? get(service, known[id.name]) : skip(`the list has no ${singular}`);
    }),
    ...unknown.map(([suffix, description, value]) => {
      const rule = ` with ${description}: 404 with an Error body`;
      return check(subject, `${name}-${suffix}`, rule, (service) => get(service, value, false));
    }),
  ];
}

function removalChecks(subject: Subject, request: RequestOf): Check[] {
  const { operation, name } = subject;
  const { removal } = operation;
  if (removal === undefined) return [];
  const rule = ': headers that announce its removal';
  return [
    check(subject, `${name}-deprecation`, rule, async (service) => {
      const { headers } = await service.send(operation, await request(service));
      const announced = ['deprecation', 'sunset', 'link']
        .filter((header) => header in headers)
        .map((header) => `${header}: ${shown(headers[header])}`);
      const { sunset } = headers;
      const differs =
        sunset !== undefined && Date.parse(String(sunset)) !== Date.parse(removal.date);
      const difference = differs ? `; the contract's date is ${removal.date}` : '';
      return info((announced.join(', ') || 'none') + difference);
    }),
  ];
}

/** Checks another success; one whose shape is not published is only reported. */
function other(subject: Subject): Check {
  const { operation, name } = subject;
  const { response: shape, parameters } = operation;
  if (shape === 'json' || shape === 'nothing') return unspecified(subject, name);
  const read = createResponseReader(operation);
  const status = statusOf(operation);
  return check(subject, name, `: ${status} with a valid body`, async ({ send }) => {
    const response = await send(operation, requestOf(operation));
    if (response.status === 404 && parameters) return skip('the example is unknown');
    expectStatus(response, status);
    return `${status}, ${shown(read(readText(response)))}`;
  });
}
