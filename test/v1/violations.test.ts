import { expect, it } from 'vitest';
import { violationsOf } from '../support/violations.ts';

const pet = { id: 1, name: 'Rex', categoryId: 1, status: 'sold' };
const error = { code: 'x', message: 'y', status: 404 };
const message = { id: '', message: '', status: '', createdAt: 'now' };

it.each([
  ['GET /v1/pets', 200, [{ id: 1, name: 'Rex' }], "property 'categoryId'"],
  ['GET /v1/pets/1', 200, '{"id":9223372036854775808,"name":"","categoryId":1}', '/id must pass'],
  ['GET /v1/pets/1', 200, { ...pet, price: 1 }, 'unevaluated properties'],
  ['GET /v1/pets/1', 404, { ...error, status: 400 }, 'body is 400'],
  ['POST /v1/pets', 200, pet, 'code'],
  ['GET /v1/cats', 200, [], 'not described'],
  ['GET /v1/pets', 200, [], 'content type text/html', 'text/html'],
  ['POST /quickstart/messages', 200, message, 'createdAt must match format "date-time"'],
])('violationsOf reports what is wrong: %s %i %j', async (line, status, body, violation, type = 'application/json') => {
  const [method = '', path] = line.split(' ');
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = new Request(`http://gateway.test${path}`, { method });
  const response = new Response(text, { status, headers: { 'content-type': type } });
  expect(await violationsOf(request, response)).toEqual([expect.stringContaining(violation)]);
});
