import { describe, expect, it } from 'vitest';
import { writeKeyOf } from '../../src/contract/idempotency.ts';

const pet = { name: 'Rex', categoryId: '1' };
const keyOf = (
  key: string,
  path: string | number = 'addPet',
  operation = 'createPet',
  value = pet,
) => writeKeyOf({ idempotencyKey: key }, path, operation, value);

describe('the key of a write', () => {
  it('is missing without an idempotency key', () => {
    expect(writeKeyOf({ idempotencyKey: undefined }, 'addPet', 'createPet', pet)).toBeUndefined();
  });

  it('has 43 characters of base64url, whatever the caller sends', () => {
    for (const key of ['a', 'x'.repeat(255)]) {
      const text = expect.stringMatching(/^[\w-]{43}$/);
      expect(keyOf(key)).toEqual({ id: text, fingerprint: text });
    }
  });

  it('is the same for the same request', () => {
    const same = { ...pet, status: undefined };
    expect(keyOf('a', 'addPet', 'createPet', same)).toEqual(keyOf('a'));
  });

  it('has another id for another idempotency key or path, and none by chance', () => {
    const keys = [keyOf('a'), keyOf('b'), keyOf('a', 'other'), keyOf('a", "addPet'), keyOf('a', 0)];
    expect(new Set(keys.map((write) => write?.id)).size).toBe(keys.length);
    expect(new Set(keys.map((write) => write?.fingerprint)).size).toBe(1);
  });

  it('has another fingerprint for other forwarded headers, which may choose a tenant', () => {
    const of = (forwarded?: Record<string, string>) =>
      writeKeyOf({ idempotencyKey: 'a', forwarded }, 'addPet', 'createPet', pet);
    const keys = [of(), of({ 'x-tenant': 'a' }), of({ 'x-tenant': 'b' }), of({ 'x-tenant': 'a' })];
    expect(new Set(keys.map((write) => write?.id)).size).toBe(1);
    expect(new Set(keys.map((write) => write?.fingerprint)).size).toBe(3);
  });

  it('has another fingerprint for another operation or parameters', () => {
    const other = [
      keyOf('a', 'addPet', 'sendMessage'),
      keyOf('a', 'addPet', 'createPet', { ...pet, name: 'Max' }),
    ];
    for (const write of other) {
      expect(write?.id).toBe(keyOf('a')?.id);
      expect(write?.fingerprint).not.toBe(keyOf('a')?.fingerprint);
    }
  });
});
