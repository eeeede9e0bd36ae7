import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { undeclared } from '../../schema/declarations.ts';

const openApi = readFileSync(new URL('../../schema/openapi.yaml', import.meta.url), 'utf8');

it('lists operations and fields that only one of document and code declares', () => {
  expect(undeclared(parse(openApi))).toEqual([]);
  const changed = openApi
    .replace('operationId: listOrders', 'operationId: orders')
    .replace('required: [name, categoryId]', 'required: [name]');
  expect(undeclared(parse(changed)).toSorted()).toEqual([
    'listOrders: GET /store/orders',
    'optional field categoryId of an animal',
    'orders: GET /store/orders',
    'required field categoryId of an animal',
  ]);
});
