import type { Field } from './fields.ts';
import { jsonType } from './json.ts';
import type { Operation } from './pet-store.ts';
import { pageSize } from './records.ts';

/** A difference between a success of a service and the contract. */
export interface Drift {
  readonly kind: 'status' | 'unknown_member' | 'missing_member' | 'wrong_type' | 'invalid_value';
  /** The member that differs, any name if it is unknown; `body`; or the HTTP status. */
  readonly field: string;
}

/** The most differences of one response that are returned. */
const maxDrifts = 50;

/**
 * Returns how the JSON of a success differs from the contract, each difference once. A null that stands
 * for no value is no difference.
 */
export function driftOf(
  { record, list }: Pick<Operation, 'record' | 'list'>,
  json: unknown,
): Iterable<Drift> {
  const found = new Map<string, Drift>();
  const add = (kind: Drift['kind'], field: string) => {
    if (found.size < maxDrifts) found.set(`${kind} ${field}`, { kind, field });
  };
  const declared = record ?? list;
  if (declared === undefined) return [];
  const fields = Object.values(declared);
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
    for (const name in one) if (!Object.hasOwn(declared, name)) add('unknown_member', name);
  }
  return found.values();
}

function driftOfField(value: unknown, { kind, isRequired }: Field): Drift['kind'] | undefined {
  if (value === undefined || value === null) {
    if (!isRequired) return undefined;
    return value === undefined ? 'missing_member' : 'wrong_type';
  }
  if (kind.parse(value) !== undefined) return undefined;
  return jsonType(value) === (kind.isText ? 'string' : 'number') ? 'invalid_value' : 'wrong_type';
}
