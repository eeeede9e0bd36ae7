import type { Field } from './fields.ts';
import { jsonType } from './json.ts';
import type { Operation } from './pet-store.ts';
import { PetsText } from './pets-text.ts';
import { pageSize } from './records.ts';

/** A difference between a success of a service and the contract. */
export interface Drift {
  readonly kind:
    | ('status' | 'header' | 'unknown_member' | 'missing_member' | 'wrong_type' | 'invalid_value')
    | ('ignored_limit' | 'ignored_filter' | 'other_id');
  /** The member that differs, any name if it is unknown; `body`; the HTTP status; or a header. */
  readonly field: string;
}

/** The most differences of one response that are returned. */
const maxDrifts = 50;

/**
 * Returns how the JSON of a success differs from the contract and from what the path asks for, each
 * difference once. A null that stands for no value is no difference.
 */
export function driftOf(
  { record, list }: Pick<Operation, 'record' | 'list'>,
  json: unknown,
  path: string,
): Iterable<Drift> {
  if (json instanceof PetsText) return driftOfQuery(json, path);
  const declared = record ?? list;
  if (declared === undefined) return [];
  const found = new Map<string, Drift>();
  const add = (kind: Drift['kind'], field: string) => {
    if (found.size < maxDrifts) found.set(`${kind} ${field}`, { kind, field });
  };
  const fields = Object.values(declared);
  const [, id] = /\/(-?\d+)$/.exec(path) ?? [];
  const records = Array.isArray(json) ? json.slice(0, pageSize.maximum) : [undefined];
  for (const one of list ? records : [json]) {
    if (jsonType(one) !== 'object') {
      add('wrong_type', 'body');
      continue;
    }
    for (const field of fields) {
      const kind = driftOfField(one[field.name], field);
      if (kind !== undefined) add(kind, field.name);
    }
    const received = id && declared['id']?.kind.parse(one['id']);
    if (received && received !== id) add('other_id', 'id');
    for (const name in one) if (!Object.hasOwn(declared, name)) add('unknown_member', name);
  }
  const count = (status = '') => records.filter((one) => !status || one?.status === status).length;
  const ignored = list && Array.isArray(json) ? driftOfQuery({ count }, path) : [];
  return [...found.values(), ...ignored];
}

/** Returns what a list ignores of the query in the path. `count` is of all its pets, or of a status. */
function driftOfQuery(list: { count(status?: string): number }, path: string): Drift[] {
  const [, limit = pageSize.default, status] = query.exec(path) ?? [];
  const count = list.count();
  const found: Drift[] = [];
  if (count > Number(limit)) found.push({ kind: 'ignored_limit', field: 'limit' });
  if (status && list.count(status) < count) found.push({ kind: 'ignored_filter', field: 'status' });
  return found;
}

const query = /(?:[?&]limit=([1-9]\d*))?(?:[?&]status=(\w+))?$/;

function driftOfField(value: unknown, { kind, isRequired }: Field): Drift['kind'] | undefined {
  if (value === undefined || value === null) {
    if (!isRequired) return undefined;
    return value === undefined ? 'missing_member' : 'wrong_type';
  }
  if (kind.parse(value) !== undefined) return undefined;
  return jsonType(value) === (kind.isText ? 'string' : 'number') ? 'invalid_value' : 'wrong_type';
}
