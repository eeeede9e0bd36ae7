import { describe, expect, it } from 'vitest';
import { redactKey } from '../../src/contract/redact-key.ts';

const key = 'service-Key_0123+/secret==';

describe('a text of the REST service', () => {
  it('has the plain key redacted', () => {
    expect(redactKey(`No key ${key}, sorry ${key}.`, key)).toBe(
      'No key [API key], sorry [API key].',
    );
  });

  it.each([
    'Name is taken.',
    'service-Key_0123 is only a part',
  ])('stays unchanged without the key: %s', (text) => {
    expect(redactKey(text, key)).toBe(text);
  });
});
