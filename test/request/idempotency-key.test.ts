import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey } from '../../src/request/headers.ts';
import { openGateway } from '../support/gateway.ts';

const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => index + 33));

describe('the idempotency key of a request', () => {
  it.each([
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['a', 'a'],
    [String.raw`"\"\\"`, String.raw`"\ `.trim()],
    [`x${visible}`, `x${visible}`],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    [`"${String.raw`\"`.repeat(255)}"`, '"'.repeat(255)],
  ])('%s is %s', (value, key) => {
    expect(parseIdempotencyKey(value)).toBe(key);
  });

  it.each([
    ['', 'empty'],
    ['""', 'an empty string'],
    ['x'.repeat(256), 'too long'],
    [`"${'x'.repeat(256)}"`, 'too long in quotes'],
    ['a b', 'a space'],
    ['"a b"', 'a space in quotes'],
    ['one, two', 'sent twice'],
    ['"one", "two"', 'sent twice in quotes'],
    ['"one","two"', 'a list'],
    ['"a', 'an open quote'],
    ['"a"b', 'text after a quote'],
    ['"a";p=1', 'parameters'],
    [String.raw`"a\b"`, 'an unknown escape'],
    ['é', 'not ASCII'],
    ['"é"', 'not ASCII in quotes'],
    ['a\t', 'a tab'],
    ['\u007f', 'a control character'],
  ])('%j is malformed: %s', (value) => {
    expect(() => parseIdempotencyKey(value)).toThrow(
      `idempotency-key: expected 1 to 255 visible characters, received ${JSON.stringify(value.slice(0, 64))}.`,
    );
  });

  it('is read of POSTs only, because nothing else writes', async () => {
    await using opened = await openGateway();
    const headers = { authorization: 'Bearer demo-key', 'idempotency-key': 'a b' };
    const url = 'http://gateway.test/v1/pets';
    expect((await opened.gateway(new Request(url, { headers }))).status).toBe(200);
    const post = { method: 'POST', headers, body: '{}' };
    expect((await opened.gateway(new Request(url, post))).status).toBe(400);
  });
});
