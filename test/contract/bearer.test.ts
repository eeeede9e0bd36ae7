import { describe, expect, it } from 'vitest';
import { readBearer } from '../../src/contract/bearer.ts';
import { UnauthenticatedError } from '../../src/contract/error.ts';

describe('readBearer', () => {
  it.each([
    'Bearer demo-key',
    'bearer abc.DEF_1~+/==',
    'Bearer   spaced',
  ])('returns %j unchanged', (authorization) => {
    expect(readBearer(authorization)).toBe(authorization);
  });

  it.each([
    ...[null, undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'demo-key', 'Bearer a b'],
    ...['Bearer é', 'Bearer a\tb', 'Bearer a, Bearer b', 'Bearer =a'],
    ...['Bearer a\r\nX: 1', 'XBearer a'],
  ])('rejects %j', (authorization) => {
    expect(() => readBearer(authorization)).toThrow(UnauthenticatedError);
  });

  it('says how to send a key if there is none', () => {
    for (const none of [null, undefined, '']) {
      expect(() => readBearer(none)).toThrow('send the header "Authorization: Bearer <API key>"');
    }
  });

  it('does not repeat a malformed key', () => {
    expect(() => readBearer('Bearer sécret')).toThrow(/^(?!.*sécret)/);
  });
});
