import { describe, expect, it } from 'vitest';
import { violationsOf } from '../support/violations.ts';

/** Returns the violations of a response with this body. */
async function check(request: string, status: number, body: unknown, type = 'application/json') {
  const [method = '', path] = request.split(' ');
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return violationsOf(
    new Request(`http://gateway.test${path}`, { method }),
    new Response(text, { status, headers: { 'content-type': type } }),
  );
}

const pet = { id: 1, name: 'Rex', categoryId: 1, status: 'sold' };
const error = (status: number) => ({ code: 'x', message: 'y', status });

describe('violationsOf', () => {
  it.each([
    ['a missing field', 'GET /v1/pets', 200, [{ id: 1, name: 'Rex' }], "property 'categoryId'"],
    [
      'a string as an id',
      'GET /v1/pets',
      200,
      [{ ...pet, id: '1' }],
      'body/0/id must pass "int64"',
    ],
    ['a fraction', 'GET /v1/pets/1', 200, { ...pet, id: 1.5 }, 'body/id must pass "int64"'],
    ['2^63', 'GET /v1/pets/1', 200, '{"id":9223372036854775808,"name":"","categoryId":1}', 'int64'],
    ['an unknown status', 'GET /v1/pets', 200, [{ ...pet, status: 'lost' }], 'body/0/status'],
    ['a null', 'GET /v1/pets', 200, [{ ...pet, status: null }], 'body/0/status must be string'],
    [
      'an undocumented field',
      'GET /v1/pets/1',
      200,
      { ...pet, price: 1 },
      'unevaluated properties',
    ],
    [
      'a stack trace in an error',
      'GET /v1/pets/1',
      404,
      { ...error(404), stack: '' },
      'unevaluated',
    ],
    ['a different status in the Error body', 'GET /v1/pets/1', 404, error(400), 'body is 400'],
    ['an undocumented success status', 'POST /v1/pets', 200, pet, 'code'],
    ['a success at an undocumented path', 'GET /v1/cats', 200, [], 'not described'],
    ['a body that is not JSON', 'GET /v1/pets', 200, '<html>', 'body must be array'],
    [
      'an invalid date',
      'POST /quickstart/messages',
      200,
      { id: '', message: '', status: '', createdAt: 'now' },
      'body/createdAt must match format "date-time"',
    ],
  ])('reports %s', async (_, request, status, body, violation) => {
    expect(await check(request, status, body)).toEqual([expect.stringContaining(violation)]);
  });

  it('reports another content type', async () => {
    expect(await check('GET /v1/pets', 200, [], 'text/html')).toEqual([
      'GET /v1/pets 200: not described, with content type text/html',
    ]);
  });
});
