import { describe, expect, it } from 'vitest';
import {
  decodeNewMember,
  decodeNewRecord,
  decodeRecord,
  encodeRecord,
} from '../../src/contract/codec.ts';
import { InvalidInputError, InvalidResponseError } from '../../src/contract/error.ts';
import { parseJson } from '../../src/contract/json.ts';
import { operations } from '../../src/petstore/operations.ts';
import { message as messageRecord, pet as petRecord } from '../../src/petstore/records.ts';

const decodePet = (json: unknown) => decodeRecord(petRecord, json);
const decodeMessage = (json: unknown) => decodeRecord(messageRecord, json);

describe('decoding backend responses', () => {
  it.each([undefined, null])('decodes the status %s as none', (status) => {
    expect(decodePet({ id: 1, name: 'a', categoryId: 2, status }).status).toBeUndefined();
  });

  const messageAt = (createdAt: string) => ({
    id: 'm',
    message: 'hi',
    status: 'queued',
    createdAt,
  });

  it.each([
    ...['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.123+01:00', '2026-11-20T10:00'],
    ...['2024-02-29T00:00:00,5-0330', '2026-11-20T10Z', '2026-11-20T10:00.5Z'],
    ...['2026-11-20T24:00:00.0Z', '20240229T100000.123Z', '20261120T1000+0100'],
  ])('keeps the timestamp %s unchanged', (createdAt) => {
    expect(decodeMessage(messageAt(createdAt))).toEqual(messageAt(createdAt));
  });

  it.each([
    ...['', 'today', '2026-11-20', '2026-02-30T10:00:00Z', '2026-11-20T25:00:00Z'],
    ...['2026-11-20T24:00:01Z', '20260230T100000Z', '2026-1120T10:00:00Z', '20261120100000Z'],
    ...['1763632800', '2026-11-20T10:00:00Z\n'],
  ])('rejects %j as a timestamp', (createdAt) => {
    expect(() => decodeMessage(messageAt(createdAt))).toThrow(InvalidResponseError);
  });

  it.each([1.5, 2 ** 63])('rejects the number %s as an id, without quoting it', (id) => {
    const problem = 'id: expected an int64 number, received another number.';
    expect(() => decodePet({ id, name: 'a', categoryId: 2 })).toThrow(problem);
  });
});

describe('decoding request bodies', () => {
  const int64 = 'categoryId: expected an int64 number, received';
  const oneOf = 'status: expected one of available, pending, sold, received';

  it.each([
    ['null', 'body: expected a JSON object, received null.'],
    ['{}', 'name: expected a string, received nothing.'],
    ['{"name":"a","categoryId":9223372036854775808}', `${int64} 9223372036854775808.`],
    ['{"name":"a","categoryId":1,"status":"lost"}', `${oneOf} "lost".`],
    ['{"name":"a","categoryId":1,"status":null}', `${oneOf} null.`],
  ])('rejects %s', (text, message) => {
    expect(() => decodeNewRecord(petRecord, parseJson(text))).toThrow(
      new InvalidInputError(message),
    );
  });

  it('truncates a long value in the error message', () => {
    expect(() =>
      decodeNewMember(operations.sendMessage.body, { message: ['x'.repeat(1000)] }),
    ).toThrow(/^.{1,120}$/);
  });

  it('does not encode a pet with an invalid field', () => {
    const pet = decodePet({ id: 1, name: 'Rex', categoryId: 1, status: 'lost' });
    expect(() => encodeRecord(petRecord, pet)).toThrow(
      'status: expected one of available, pending, sold',
    );
  });
});
