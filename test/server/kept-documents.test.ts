import { describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';

/** Bytes of the heap that are in use once all garbage is collected. */
function heapUsed(): number {
  if (globalThis.gc === undefined) throw new Error('Expected --expose-gc.');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

describe('documents', () => {
  it.each([
    ['invalid ones', (index: number) => `{ nope${index} }`, undefined],
    ['valid ones without a key', (index: number) => `{ a${index}: __typename }`, {}],
    [
      'ones with a key that is not accepted',
      (index: number) => `query Q${index} { pets { id name } }`,
      { authorization: 'Bearer made-up' },
    ],
    [
      'syntax errors',
      (index: number) => `{ pets( ${'['.repeat(50)} ${index}`,
      { authorization: 'Bearer demo-key' },
    ],
  ])(
    'of %s are not kept',
    async (_, documentOf, headers) => {
      await using opened = await openGateway();
      const send = async (from: number, to: number) => {
        for (let index = from; index < to; index++) {
          await postGraphQL(opened.gateway, documentOf(index), undefined, headers ?? {});
          // The log lines are kept by the test.
          opened.lines.length = 0;
        }
      };
      await send(0, 300);
      const before = heapUsed();
      await send(300, 1300);
      expect((heapUsed() - before) / 1000).toBeLessThan(1500);
    },
    60_000,
  );

  it('of callers with a good key take no more than their bound', async () => {
    await using opened = await openGateway();
    const document = (index: number) =>
      `query Q${index} { ${Array.from({ length: 8 }, (_, field) => `f${field}: pets(limit: 1) { id name status categoryId }`).join(' ')} }`;
    const send = async (index: number) => {
      for (let time = 0; time < 2; time++) await postGraphQL(opened.gateway, document(index));
      opened.lines.length = 0;
    };
    for (let index = 0; index < 50; index++) await send(index);
    const before = heapUsed();
    for (let index = 50; index < 1050; index++) await send(index);
    const megabytes = (heapUsed() - before) / 1024 / 1024;
    expect(megabytes).toBeLessThan(32);
    expect(megabytes).toBeGreaterThan(4);
  }, 60_000);
});
