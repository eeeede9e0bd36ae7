import { describe, expect, it } from 'vitest';
import {
  decodeErrorBody,
  decodeMessage,
  decodeNewMessage,
  decodeNewPet,
  decodePet,
  decodePets,
  encodePet,
} from '../../src/contract/decode.ts';
import { InvalidInputError, InvalidResponseError } from '../../src/contract/error.ts';
import { parseJson } from '../../src/contract/json.ts';

describe('decoding what a backend sent', () => {
  it('reads an animal, ids digit by digit', () => {
    const json = parseJson(
      '{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}',
    );
    expect(decodePet(json)).toEqual({
      id: '9223372036854775807',
      name: 'Rex',
      categoryId: '-9223372036854775808',
      status: 'sold',
    });
  });

  it('copies named fields only', () => {
    const json = parseJson('{"id":1,"name":"a","categoryId":2,"secret":1,"__proto__":{"x":1}}');
    const pet = decodePet(json);
    expect(Object.keys(pet)).toEqual(['id', 'name', 'categoryId']);
    expect('x' in pet).toBe(false);
  });

  it('takes an absent status and a null status for none', () => {
    expect(decodePet({ id: 1, name: 'a', categoryId: 2 })).not.toHaveProperty('status');
    expect(decodePet({ id: 1, name: 'a', categoryId: 2, status: null })).not.toHaveProperty(
      'status',
    );
  });

  it('holds an unknown status as the error that answers it, and keeps the rest of the list', () => {
    const [bad, good] = decodePets([
      { id: 1, name: 'a', categoryId: 2, status: 'lost' },
      { id: 2, name: 'b', categoryId: 2, status: 'sold' },
    ]);
    expect(bad?.status).toEqual(
      new InvalidResponseError(
        '[0].status: expected one of available, pending, sold, received string.',
      ),
    );
    expect(good?.status).toBe('sold');
  });

  it.each([
    ['null', 'body: expected an array, received null.'],
    ['{}', 'body: expected an array, received object.'],
    ['[null]', '[0].body: expected an object, received null.'],
    ['[{"name":"a","categoryId":1}]', '[0].id: expected an int64 number, received nothing.'],
    [
      '[{"id":"1","name":"a","categoryId":1}]',
      '[0].id: expected an int64 number, received string.',
    ],
    [
      '[{"id":1.5,"name":"a","categoryId":1}]',
      '[0].id: expected an int64 number, received number.',
    ],
    [
      '[{"id":9223372036854775808,"name":"a","categoryId":1}]',
      '[0].id: expected an int64 number, received bigint.',
    ],
    [
      '[{"id":9.007199254740993e15,"name":"a","categoryId":1}]',
      '[0].id: expected an int64 number, received object.',
    ],
    ['[{"id":1,"name":5,"categoryId":1}]', '[0].name: expected a string, received number.'],
    ['[{"id":1,"name":"a"}]', '[0].categoryId: expected an int64 number, received nothing.'],
  ])('refuses %s', (text, message) => {
    expect(() => decodePets(parseJson(text))).toThrow(new InvalidResponseError(message));
  });

  it.each([
    '2026-11-20T10:00:00Z',
    '2026-11-20T10:00:00.123+01:00',
    '2026-11-20T10:00',
    '2024-02-29T00:00:00,5-0330',
  ])('keeps the timestamp %s as it is', (createdAt) => {
    const message = { id: 'm', message: 'hi', status: 'queued', createdAt };
    expect(decodeMessage(message)).toEqual(message);
  });

  it.each([
    '',
    'today',
    '2026-11-20',
    '2026-02-30T10:00:00Z',
    '2026-11-20T25:00:00Z',
    '1763632800',
    '2026-11-20T10:00:00Z\n',
  ])('refuses %j as a timestamp', (createdAt) => {
    const message = { id: 'm', message: 'hi', status: 'queued', createdAt };
    expect(() => decodeMessage(message)).toThrow(InvalidResponseError);
  });

  it('knows an Error body from anything else', () => {
    const body = { code: 'x', message: 'y', status: 404 };
    expect(decodeErrorBody({ ...body, more: 1 })).toEqual(body);
    expect(decodeErrorBody({ ...body, status: '404' })).toBeUndefined();
    expect(decodeErrorBody(['x'])).toBeUndefined();
    expect(decodeErrorBody(null)).toBeUndefined();
  });
});

describe('decoding what a caller sent', () => {
  it.each([
    ['null', 'body: expected a JSON object, received null.'],
    ['[]', 'body: expected a JSON object, received [].'],
    ['{}', 'name: expected a string, received nothing.'],
    ['{"name":"a"}', 'categoryId: expected an int64 number, received nothing.'],
    ['{"name":"a","categoryId":"1"}', 'categoryId: expected an int64 number, received "1".'],
    [
      '{"name":"a","categoryId":9223372036854775808}',
      'categoryId: expected an int64 number, received 9223372036854775808.',
    ],
    [
      '{"name":"a","categoryId":1,"status":"lost"}',
      'status: expected one of available, pending, sold, received "lost".',
    ],
    [
      '{"name":"a","categoryId":1,"status":null}',
      'status: expected one of available, pending, sold, received null.',
    ],
  ])('refuses %s', (text, message) => {
    expect(() => decodeNewPet(parseJson(text))).toThrow(new InvalidInputError(message));
  });

  it('shortens a value that it repeats', () => {
    expect(() => decodeNewMessage({ message: ['x'.repeat(1000)] })).toThrow(/^.{1,120}$/);
  });

  it('writes and reads an animal without a change', () => {
    const pet = { id: '9223372036854775807', name: 'Rex', categoryId: '9007199254740993' } as const;
    expect(decodePet(parseJson(JSON.stringify(encodePet(pet))))).toEqual(pet);
  });
});
