import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { apiKey, openGateway, type TestOptions } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';
import { sendForParts } from '../support/parts.ts';
import { countTurns } from '../support/turns.ts';

const aliases = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ');

/** Sends a request this many times at once. @returns the turns of the event loop that it took. */
async function turnsOf(query: string, times: number, variables?: object, options?: TestOptions) {
  await using opened = await openGateway(options);
  await postGraphQL(opened.gateway, '{ pets { id } }');
  using counted = countTurns();
  const texts = Array.from({ length: times }, (_, index) => `${query} # ${index}`);
  await Promise.all(texts.map((text) => postGraphQL(opened.gateway, text, variables)));
  return counted.turns;
}

describe('work that takes milliseconds is spread over turns of the event loop', () => {
  it('for writes', async () => {
    const write = (index: number) => `addPet(input: { name: "Rex", categoryId: ${index} }) { id }`;
    expect(await turnsOf(`mutation { ${aliases(20, write)} }`, 1)).toBeGreaterThanOrEqual(20);
    expect(await turnsOf('{ __typename }', 1)).toBeLessThan(10);
  });

  it('for introspection', async () => {
    expect(await turnsOf(getIntrospectionQuery(), 20)).toBeGreaterThanOrEqual(20);
  });

  it('for validating long documents, once for each', async () => {
    await using opened = await openGateway();
    const turnsFor = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      using counted = countTurns();
      const send = (_: unknown, index: number) => {
        const long = `{ pets { ${'id name '.repeat(300)} } } # ${key} ${index}`;
        return postGraphQL(opened.gateway, long, {}, headers);
      };
      await Promise.all(Array.from({ length: 20 }, send));
      return counted.turns;
    };
    expect(await turnsFor(apiKey)).toBeGreaterThanOrEqual(20);
    // Those of callers without an accepted key replace none of the others.
    expect(await turnsFor('unknown')).toBeGreaterThanOrEqual(20);
    expect(await turnsFor(apiKey)).toBeLessThan(15);
  });

  it('for parsing large bodies', async () => {
    const query = 'query ($text: String!) { __typename @include(if: true) pets(limit: 0) { id } }';
    const text = { text: 'x'.repeat(100_000) };
    expect(await turnsOf(query, 20, text)).toBeGreaterThanOrEqual(20);
  });

  it('for writing large responses', async () => {
    await using opened = await openGateway();
    const pet = { id: '1', name: 'x'.repeat(10_000), categoryId: '1' };
    const petStore = { ...opened.petStore, listPets: async () => [pet, pet] };
    const query = `{ pets { ${aliases(10, () => 'name')} } }`;
    expect(await turnsOf(query, 20, undefined, { petStore })).toBeGreaterThanOrEqual(20);
  });
});

describe('a large response in parts waits for slices like a whole one', () => {
  const pet = { id: '1', name: 'x'.repeat(10_000), categoryId: '1' };
  const large = `pets { ${aliases(10, () => 'name')} }`;

  it.each([
    ['if its first part is large', `{ ${large} ... @defer { __typename } }`],
    ['if a later part is large', `{ __typename ... @defer { ${large} } }`],
    ['if its variables turn every @defer off', `{ ${large} ... @defer(if: false) { __typename } }`],
  ])('%s', async (_, query) => {
    await using opened = await openGateway();
    const petStore = { ...opened.petStore, listPets: async () => [pet, pet] };
    await using service = await openGateway({ petStore });
    const send = async (text: string) =>
      (await sendForParts(service.gateway, 'http://gateway.test', text)).text();
    await send(query);
    using counted = countTurns();
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(`${query} # ${index}`)));
    expect(counted.turns).toBeGreaterThanOrEqual(20);
  });
});
