import { describe, expect, it } from 'vitest';
import {
  decodeErrorBody,
  decodeMessage,
  decodeNewMessage,
  decodeNewPet,
  decodePet,
  decodePets,
  encodePet,
} from '../../src/contract/codec.ts';
import { InvalidInputError, InvalidResponseError } from '../../src/contract/error.ts';
import { parseJson } from '../../src/contract/json.ts';
import { petFields } from '../../src/contract/records.ts';

describe('decoding backend responses', () => {
  it('decodes an animal with exact ids', () => {
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
    expect(Object.keys(pet)).toEqual(Object.keys(petFields));
    expect('x' in pet).toBe(false);
  });

  it.each([undefined, null])('decodes the status %s as none', (status) => {
    expect(decodePet({ id: 1, name: 'a', categoryId: 2, status }).status).toBeUndefined();
  });

  it('replaces an unknown status with an error and keeps the rest of the list', () => {
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
      '[{"id":9223372036854775808,"name":"a","categoryId":1}]',
      '[0].id: expected an int64 number, received number.',
    ],
    [
      '[{"id":9.007199254740993e15,"name":"a","categoryId":1}]',
      '[0].id: expected an int64 number, received number.',
    ],
    ['[{"id":1,"name":5,"categoryId":1}]', '[0].name: expected a string, received number.'],
  ])('rejects %s', (text, message) => {
    expect(() => decodePets(parseJson(text))).toThrow(new InvalidResponseError(message));
  });

  it.each([
    '2026-11-20T10:00:00Z',
    '2026-11-20T10:00:00.123+01:00',
    '2026-11-20T10:00',
    '2024-02-29T00:00:00,5-0330',
  ])('keeps the timestamp %s unchanged', (createdAt) => {
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
  ])('rejects %j as a timestamp', (createdAt) => {
    const message = { id: 'm', message: 'hi', status: 'queued', createdAt };
    expect(() => decodeMessage(message)).toThrow(InvalidResponseError);
  });

  it.each([
    ['null', 'body: expected an object, received null.'],
    ['[]', 'body: expected an object, received array.'],
    [
      '{"message":"hi","status":"queued","createdAt":"2026-11-20T10:00Z"}',
      'id: expected a string, received nothing.',
    ],
    [
      '{"id":"m","message":"hi","status":"queued","createdAt":"today"}',
      'createdAt: expected an ISO 8601 timestamp, received string.',
    ],
  ])('rejects the message %s', (text, message) => {
    expect(() => decodeMessage(parseJson(text))).toThrow(new InvalidResponseError(message));
  });

  it('distinguishes an Error body from other values', () => {
    const body = { code: 'x', message: 'y', status: 404 };
    expect(decodeErrorBody({ ...body, more: 1 })).toEqual(body);
    expect(decodeErrorBody({ ...body, status: '404' })).toBeUndefined();
    expect(decodeErrorBody(['x'])).toBeUndefined();
    expect(decodeErrorBody(null)).toBeUndefined();
  });
});

describe('decoding request bodies', () => {
  it.each([
    ['null', 'body: expected a JSON object, received null.'],
    ['[]', 'body: expected a JSON object, received [].'],
    ['{}', 'name: expected a string, received nothing.'],
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
  ])('rejects %s', (text, message) => {
    expect(() => decodeNewPet(parseJson(text))).toThrow(new InvalidInputError(message));
  });

  it('truncates a long value in the error message', () => {
    expect(() => decodeNewMessage({ message: ['x'.repeat(1000)] })).toThrow(/^.{1,120}$/);
  });

  it('encodes and decodes an animal without changes', () => {
    const pet = { id: '9223372036854775807', name: 'Rex', categoryId: '9007199254740993' } as const;
    expect(decodePet(parseJson(JSON.stringify(encodePet(pet))))).toEqual(pet);
  });

  it('does not encode an animal with an invalid field', () => {
    const pet = decodePet({ id: 1, name: 'Rex', categoryId: 1, status: 'lost' });
    expect(() => encodePet(pet)).toThrow('status: expected one of available, pending, sold');
  });
});
