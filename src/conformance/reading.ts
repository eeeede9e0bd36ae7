import { shown } from '../contract/json.ts';
import { idFieldOf, type List, type Operation, statusOf } from '../contract/operation.ts';
import type { RecordType } from '../contract/record.ts';
import { createResponseReader } from '../contract/request.ts';
import {
  type AnyRecord,
  type Check,
  check,
  greatest,
  info,
  listOf,
  missing,
  parametersOf,
  type RequestOf,
  recordOf,
  type Subject,
  skip,
  unspecified,
  withoutKey,
} from './check.ts';
import {
  expectList,
  expectRecord,
  expectStatus,
  formatCount,
  readText,
  requireThat,
} from './expect.ts';
import type { ServiceResponse } from './http-client.ts';

/** Returns the checks of an operation that only reads. */
export function readingChecks(subject: Subject): Check[] {
  const { operation } = subject;
  const list = listOf(operation);
  const type = recordOf(operation);
  const request = type ? anyOf(operation, type) : () => parametersOf(operation);
  return [
    ...withoutKey(subject, request),
    ...(list ? listChecks(subject, list) : type ? recordChecks(subject, type) : [other(subject)]),
    ...removalChecks(subject, request),
  ];
}

const anyOf =
  (operation: Operation, type: RecordType): RequestOf =>
  ({ known }) => {
    const id = idFieldOf(operation, type);
    return parametersOf(operation, greatest(known(type), id)?.[id.name]);
  };

function listChecks(subject: Subject, list: List): Check[] {
  const { operation, name } = subject;
  const query = Object.entries(operation.query ?? {});
  const [size] = query.flatMap(([parameter, { limits }]) =>
    limits ? [{ parameter, limits }] : [],
  );
  const checks = [
    listing(subject, list, name, '', '200 with an array of at most', size?.limits.default),
  ];
  if (size) {
    const { minimum, maximum } = size.limits;
    const searchOf = (limit: number) => `?${size.parameter}=${limit}`;
    for (const limit of [minimum, maximum]) {
      const id = `${size.parameter}-${limit}`;
      checks.push(listing(subject, list, id, searchOf(limit), 'at most', limit));
    }
    for (const limit of [minimum - 1, maximum + 1]) {
      checks.push(unspecified(subject, `${size.parameter}-${limit}`, searchOf(limit)));
    }
  }
  for (const [parameter, { kind, filters }] of query) {
    if (!filters) continue;
    const values = kind.values ?? [undefined];
    checks.push(...values.map((value) => filtering(subject, list, parameter, value)));
    if (kind.values) checks.push(unspecified(subject, 'filter-unknown', `?${parameter}=unknown`));
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
    const response = await send(operation, { search, ...parametersOf(operation) });
    if (response.status === 404 && operation.parameters) return skip('the example is unknown');
    return `200, ${formatCount(type, expectList(list, response, limit).length)}`;
  });
}

/** Checks a filter by a value, or by that of any record. */
function filtering(subject: Subject, list: List, name: string, filter: unknown): Check {
  const { operation } = subject;
  const { listOf: type } = list;
  const rule =
    filter === undefined
      ? `?${name}=…: all ${type.plural} with the ${name} of one, and no others`
      : `?${name}=${filter}: all ${type.plural} of this ${name}, and no others`;
  return check(subject, `filter-${filter ?? name}`, rule, async ({ send, known }) => {
    const records = known(type);
    const value = filter ?? records.find((record) => record[name] !== undefined)?.[name];
    if (value === undefined) return skip(`the list has no ${type.singular} with a ${name}`);
    const search = searchOfAll(operation, { [name]: String(value) });
    const response = await send(operation, { search, ...parametersOf(operation) });
    const filtered: readonly AnyRecord[] = expectList(list, response, list.maximum);
    const id = idFieldOf(operation, type).name;
    for (const record of filtered) {
      const problem = `${name} of ${type.singular} ${record[id]}: expected ${shown(value)}, received ${shown(record[name])}`;
      requireThat(record[name] === value, problem);
    }
    const ids = new Set(filtered.map((record) => record[id]));
    const missed = records.find((record) => record[name] === value && !ids.has(record[id]));
    // It may be on a later page of a full list; the contract does not specify paging.
    requireThat(
      missed === undefined || filtered.length === list.maximum,
      `${type.singular} ${missed?.[id]} has this ${name} but is not in the list of ${filtered.length}`,
    );
    return `200, ${formatCount(type, filtered.length)}`;
  });
}

/** Returns the query string of a list for as many records as possible. */
export function searchOfAll(
  { query = {} }: Operation,
  filters: Record<string, string> = {},
): string {
  const limits = Object.entries(query).flatMap(([name, { limits: of }]) =>
    of ? [[name, String(of.maximum)]] : [],
  );
  const search = new URLSearchParams([...limits, ...Object.entries(filters)]);
  return search.size === 0 ? '' : `?${search}`;
}

function recordChecks(subject: Subject, type: RecordType): Check[] {
  const { operation, name } = subject;
  const { singular } = type;
  const id = idFieldOf(operation, type);
  const expectOne = (response: ServiceResponse, value: unknown) => {
    const record: AnyRecord = expectRecord(type, response, statusOf(operation));
    const received = record[id.name];
    const problem = `expected ${singular} ${value}, received ${singular} ${received}`;
    requireThat(received === value, problem);
  };
  const digits = id.kind.isText ? '' : ', every digit exact';
  return [
    check(subject, name, `: 200 with the ${singular} of this id${digits}`, async (service) => {
      const value = greatest(service.known(type), id)?.[id.name];
      if (value === undefined) return skip(`the list has no ${singular}`);
      expectOne(await service.send(operation, parametersOf(operation, value)), value);
      return `200, ${singular} ${value}`;
    }),
    ...missing(subject, (response, value) => {
      expectOne(response, value);
      return `${singular} ${value} exists`;
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
      const { headers } = await service.send(operation, request(service));
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

/** Checks another success; one of unpublished shape is only reported. */
function other(subject: Subject): Check {
  const { operation, name } = subject;
  if (operation.response === 'json') return unspecified(subject, name);
  const read = createResponseReader(operation);
  const status = statusOf(operation);
  return check(subject, name, `: ${status} with a valid body`, async ({ send }) => {
    const response = await send(operation, parametersOf(operation));
    expectStatus(response, status);
    return `${status}, ${shown(read(readText(response)))}`;
  });
}
