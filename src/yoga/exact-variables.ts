import { jsonType } from '../contract/json.ts';

/** Replaces each number that JavaScript may have rounded, also in members, by a value that no type accepts. */
export function refuseRounded(variables: object): Record<string, unknown> {
  const entries = Object.entries(variables).map(([name, value]) => {
    if (jsonType(value) === 'object') return [name, refuseRounded(value)];
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return [name, value];
    // Messages of graphql-js show what `toJSON` returns.
    const shown = `the number ${value}, which may be rounded: pass a string or a bigint`;
    return [name, { toJSON: () => shown }];
  });
  return Object.fromEntries(entries);
}
