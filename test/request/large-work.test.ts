import { gzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import { apiKey, openBuiltin, openGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL, withKey } from '../support/graphql.ts';
import { valuesOf } from '../support/metrics.ts';
import { petsFirst, sendForParts } from '../support/parts.ts';
import { countTurns, holdTurns } from '../support/turns.ts';

const aliases = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ');

const large = `pets { ${aliases(10, () => 'name')} }`;

/** Opens a gateway whose pets have long names. */
async function openLarge() {
  const pet = { id: '1', name: 'x'.repeat(10_000), categoryId: '1' };
  return openGateway({ petStore: { ...(await openBuiltin()), listPets: async () => [pet, pet] } });
}

/** Sends a request this many times at once. @returns the turns of the event loop that it took. */
async function turnsOf(query: string, times: number, variables = {}) {
  await using opened = await openLarge();
  await postGraphQL(opened.gateway, '{ pets { id } }');
  using counted = countTurns();
  const texts = Array.from({ length: times }, (_, index) => `${query} # ${index}`);
  await Promise.all(texts.map((text) => postGraphQL(opened.gateway, text, variables)));
  return counted.turns;
}

describe('work that takes milliseconds is spread over turns of the event loop', () => {
  const write = (index: number) => `addPet(input: { name: "Rex", categoryId: ${index} }) { id }`;
  const text = 'query ($text: String!) { __typename @include(if: true) pets(limit: 0) { id } }';

  it.each([
    ['writes', `mutation { ${aliases(20, write)} }`, 1, {}],
    ['introspection', getIntrospectionQuery(), 20, {}],
    ['parsing large bodies', text, 20, { text: 'x'.repeat(100_000) }],
    ['writing large responses', `{ ${large} }`, 20, {}],
  ])('for %s', async (_, query, times, variables) => {
    expect(await turnsOf(query, times, variables)).toBeGreaterThanOrEqual(20);
  });

  it('but not for a small request', async () => {
    expect(await turnsOf('{ __typename }', 1)).toBeLessThan(10);
  });

  it('for validating long documents, once for each', async () => {
    await using opened = await openGateway();
    const turnsFor = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      using counted = countTurns();
      const send = (_: unknown, index: number) => {
        const long = `{ pets { ${'id name categoryId status '.repeat(30)} } } # ${key} ${index}`;
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

  it('for decoding the content coding of bodies', async () => {
    await using opened = await openGateway();
    const body = gzipSync(JSON.stringify({ query: '{ __typename }' }));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', ...withKey };
    const send = () =>
      opened.gateway(new Request('http://gateway.test/graphql', { method: 'POST', headers, body }));
    await send();
    using counted = countTurns();
    await Promise.all(Array.from({ length: 20 }, send));
    expect(counted.turns).toBeGreaterThanOrEqual(20);
  });
});

describe('a large response in parts waits for turns like a whole one', () => {
  it.each([
    ['if its first part is large', `{ ${large} ... @defer { __typename } }`],
    ['if a later part is large', `{ __typename ... @defer { ${large} } }`],
    ['if its variables turn every @defer off', `{ ${large} ... @defer(if: false) { __typename } }`],
  ])('%s', async (_, query) => {
    await using opened = await openLarge();
    const send = async (text: string) =>
      (await sendForParts(opened.gateway, 'http://gateway.test', text)).text();
    await send(query);
    using counted = countTurns();
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(`${query} # ${index}`)));
    expect(counted.turns).toBeGreaterThanOrEqual(20);
  });
});

const addPet = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
const long = `{ pets { ${'id name categoryId status '.repeat(30)} } }`;

it('an accepted key does not wait for the large work of callers without one', async () => {
  await using opened = await openGateway();
  const { gateway } = opened;
  await postGraphQL(gateway, '{ pets { id } }');
  let responses = 0;
  const flood = Array.from({ length: 200 }, async (_, index) => {
    const bogus = { authorization: `Bearer bogus-key-${index % 6}` };
    await postGraphQL(gateway, `${long} # ${index}`, {}, index % 2 ? bogus : {});
    responses++;
  });
  expect(await postGraphQL(gateway, addPet)).toMatchObject({ data: { addPet: {} } });
  expect(responses).toBeLessThan(20);
  const parts = await sendForParts(gateway, 'http://gateway.test');
  expect(await parts.text()).toContain('"hasNext":false');
  expect(responses).toBeLessThan(40);
  await Promise.all(flood);
});

describe('large work that waits for its turn ends with its request', () => {
  const work = [
    ['a long document', long],
    ['@defer', petsFirst],
    ['introspection', '{ __schema { queryType { name } } }'],
    ['a large body', '{ pets { id } }'.padEnd(100_000)],
  ] as const;

  /** Opens a gateway in which the demo key waits for turns. */
  async function openHeld() {
    const opened = await openGateway();
    await postGraphQL(opened.gateway, '{ pets { id } }');
    const held = holdTurns(opened.keys.find(withKey.authorization));
    return {
      ...opened,
      isHeld: held.isHeld,
      used: () => valuesOf(opened.metrics, 'petstore_limit_used', 'limit'),
      /** Sends a request whose client leaves when it is in flight. */
      async leave(request: Request) {
        const client = new AbortController();
        const response = opened.gateway(new Request(request, { signal: client.signal }));
        await vi.waitFor(async () => expect(await this.used()).toHaveProperty('requests'));
        client.abort();
        return response;
      },
      async [Symbol.asyncDispose]() {
        held[Symbol.dispose]();
        await opened[Symbol.asyncDispose]();
      },
    };
  }

  it.each(work)('when its deadline passes: %s', async (_, query) => {
    await using opened = await openHeld();
    const headers = {
      ...withKey,
      accept: 'multipart/mixed, application/json',
      'x-petstore-timeout-ms': '50',
    };
    const { status, errors } = await postGraphQL(opened.gateway, query, {}, headers);
    expect(status).toBe(504);
    const extensions = { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ extensions }]);
    expect(opened.requests().at(-1)).toMatchObject({ status: 504, codes: ['UPSTREAM_TIMEOUT'] });
    expect(await opened.used()).toEqual({});
    expect(opened.isHeld()).toBe(true);
  });

  it('when its deadline passes: a write, and the next one is not done either', async () => {
    await using opened = await openHeld();
    const two = `mutation { ${aliases(2, () => addPet.slice(11, -2))} }`;
    const headers = { ...withKey, 'x-petstore-timeout-ms': '50' };
    const { status, errors } = await postGraphQL(opened.gateway, two, {}, headers);
    expect(status).toBe(200);
    const extensions = { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ extensions }, { extensions }]);
    expect(opened.isHeld()).toBe(true);
  });

  it.each(work)('when its client leaves: %s', async (_, query) => {
    await using opened = await openHeld();
    const headers = { ...withKey, accept: 'multipart/mixed' };
    await opened.leave(graphqlRequest('http://gateway.test', { query }, headers));
    expect(opened.requests().at(-1)).toMatchObject({ codes: ['CANCELLED'] });
    expect(await opened.used()).toEqual({});
    expect(opened.isHeld()).toBe(true);
  });

  it('when the client of a large request to /v1 leaves', async () => {
    await using opened = await openHeld();
    const headers = { ...withKey, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: '{}'.padEnd(100_000) };
    const response = await opened.leave(new Request('http://gateway.test/v1/pets', init));
    expect(response.status).toBe(503);
    expect(await opened.used()).toEqual({});
    expect(opened.isHeld()).toBe(true);
  });
});
