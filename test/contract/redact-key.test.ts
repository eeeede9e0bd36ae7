import { describe, expect, it } from 'vitest';
import { redactKey } from '../../src/contract/redact-key.ts';

const key = 'service-Key_0123+/secret==';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const redacted = '[text with the API key]';

describe('a text of the REST service', () => {
  it('has the plain key redacted', () => {
    expect(redactKey(`No key ${key}, sorry ${key}.`, key)).toBe(
      'No key [API key], sorry [API key].',
    );
  });

  it.each([
    ['percent', encodeURIComponent(key)],
    ['percent, every character', key.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)],
    ['percent, twice', encodeURIComponent(encodeURIComponent(key))],
    ['base64', base64(key)],
    ['base64 of the header', base64(`Bearer ${key}`)],
    ['base64 of a name and the key', base64(`x:${key}`)],
    ['base64 of JSON', base64(JSON.stringify({ sub: 'me', key, more: 'text' }))],
    ['base64 after other letters', `ab${base64(key)}`],
    ['base64url', Buffer.from(key).toString('base64url')],
    ['base64, twice', base64(base64(key))],
    ['base64 in percent', encodeURIComponent(base64(key))],
    ['hex', Buffer.from(key).toString('hex')],
    ['escapes', key.replace(/./g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)],
    ['entities', key.replace(/./g, (one) => `&#${one.charCodeAt(0)};`)],
    ['upper case', key.toUpperCase()],
  ])('is redacted completely if it contains the key in another encoding: %s', (_, encoded) => {
    expect(redactKey(`Bad token "${encoded}" (see log)`, key)).toBe(redacted);
  });

  it.each([
    'Name is taken.',
    'aGVsbG8gd29ybGQ gets 100%25 of 0123456789abcdef',
    'service-Key_0123 is only a part',
  ])('stays unchanged without the key: %s', (text) => {
    expect(redactKey(text, key)).toBe(text);
  });

  it('is scanned in bounded time', () => {
    const start = performance.now();
    for (const piece of ['a', 'YWFhYWFhYWFh ', '%25', '&#65;', '61']) {
      redactKey(piece.repeat(16_384 / piece.length), key);
    }
    // Without a bound it takes minutes.
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
