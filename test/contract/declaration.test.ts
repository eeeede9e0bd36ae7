import { expect, it } from 'vitest';
import { checksOf } from '../../src/conformance/run.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { contract } from '../../src/petstore/operations.ts';

const all: readonly (readonly [string, Operation])[] = Object.entries(contract.operations);

// What the compiler does not see. It applies to any contract.
it.each(all)('the declaration of %s fits together', (_id, operation) => {
  const { path, parameters = {}, query = {}, response, service, body, method } = operation;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  expect(Object.keys(parameters)).toEqual(names);
  expect(Object.keys(contract.services)).toContain(service);
  if (method === 'GET' || method === 'DELETE') expect(body).toBeUndefined();
  const list = typeof response === 'object' && 'listOf' in response ? response : undefined;
  for (const [name, { filters, limits }] of Object.entries(query)) {
    if (filters) expect(Object.keys(list?.listOf.fields ?? {})).toContain(name);
    if (limits) expect(limits.maximum).toBe(list?.maximum);
  }
});

it('has checks with ids of their own, and other fields for other operations', () => {
  const { reading, writing, doneOnce } = checksOf(contract);
  const ids = [...reading, ...writing, ...doneOnce].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const fields = all.map(([, { field }]) => field.replace(/^\w+\./, ''));
  expect(new Set(fields).size).toBe(fields.length);
});
