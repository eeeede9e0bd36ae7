import { describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL } from '../support/graphql.ts';

/** Returns the bytes in use on the heap after garbage collection. */
function heapUsed(): number {
  if (globalThis.gc === undefined) throw new Error('Expected --expose-gc.');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

const repeat = (count: number, one: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => one(n)).join(' ');

describe('the cache of documents', () => {
  it.each([
    ['invalid documents', (index: number) => `{ nope${index} }`, undefined],
    ['valid documents without a key', (index: number) => `{ a${index}: __typename }`, {}],
    [
      'documents with a key that is not accepted',
      (index: number) => `query Q${index} { pets { id name } }`,
      { authorization: 'Bearer made-up' },
    ],
    [
      'documents with syntax errors',
      (index: number) => `{ pets( ${'['.repeat(50)} ${index}`,
      { authorization: 'Bearer demo-key' },
    ],
  ])('keeps little of %s', async (_, documentOf, headers) => {
    await using opened = await openGateway();
    const send = async (from: number, to: number) => {
      for (let index = from; index < to; index++) {
        await postGraphQL(opened.gateway, documentOf(index), undefined, headers ?? {});
        // The test itself keeps the log lines.
        opened.lines.length = 0;
      }
    };
    await send(0, 300);
    const before = heapUsed();
    await send(300, 1300);
    expect((heapUsed() - before) / 1000).toBeLessThan(1500);
  });

  const pets = (n: number) => `f${n}: pets(limit: 1) { id name status categoryId }`;
  const lists = `${repeat(19, (n) => `p${n}: pets(limit: 1) { ...Pet }`)}`;
  const fields = 'id name categoryId status '.repeat(12);
  it.each<[string, number, number, (index: number) => string]>([
    ['fields', 1000, 1, (index) => `query Q0 { ${repeat(8, pets)} } # ${index}`],
    ['comments', 80, 1, (index) => `query Q0 { pets { id } } # ${index}\n${'#\n'.repeat(4900)}`],
    [
      'operations that share fragments',
      12,
      30,
      (index) =>
        `${repeat(30, (n) => `query Q${n}($a: Boolean!) { ...Lists }`)} fragment Lists on Query { ${lists} } fragment Pet on Pet { id @skip(if: $a) ${fields} } # ${index}`,
    ],
  ])('is bounded for callers with an accepted key, for documents with many %s', async (_, documents, operations, documentOf) => {
    await using opened = await openGateway();
    const send = async (index: number) => {
      const query = documentOf(index);
      for (let n = 0; n < operations; n++) {
        // Compiled at its second use, once for each value of the condition.
        for (const a of operations > 1 ? [true, true, false] : [true, true]) {
          const parameters = { query, operationName: `Q${n}`, variables: { a } };
          await (await opened.gateway(graphqlRequest('http://gateway.test', parameters))).text();
        }
      }
      opened.lines.length = 0;
    };
    await send(-1);
    const before = heapUsed();
    for (let index = 0; index < documents; index++) await send(index);
    const megabytes = (heapUsed() - before) / 1024 / 1024;
    expect(megabytes).toBeLessThan(32);
    expect(megabytes).toBeGreaterThan(4);
  });
});
