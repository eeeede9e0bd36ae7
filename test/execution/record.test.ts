import { describe, expect, it } from 'vitest';
import { postGraphQL } from '../support/graphql.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

const authorization = 'Bearer demo-key';

const usual = `[
{"id":1,"name":"Biscuit","categoryId":2,"status":"sold"},
{"id":9007199254740993,"name":"größer 🐕 }],$1","categoryId":-1,"status":"available"},
{"id":-5,"name":"","categoryId":0,"status":"pending"}
]`.replaceAll('\n', '');

/** Starts a gateway and a REST service with these response bodies. */
async function startWithPets(list: string, orders = '{"orders":[]}') {
  const gateway = await startRestGateway(({ url }, response) =>
    sendJson(response, 200, url.startsWith('/v1/pets') ? list : orders),
  );
  const headers = { authorization, 'x-request-id': 'test' };
  const send = async (query: string) =>
    (await postGraphQL(gateway.gateway, query, undefined, headers)).text;
  return { ...gateway, send };
}

describe('a list of pets that is written from the REST response text', () => {
  it.each([
    ['{ pets { id name categoryId status } }'],
    ['{ pets { __typename status } }'],
    ['{ pets { type: __typename id again: id name id } }'],
    ['{ pets { ...F ... on Pet { name } } } fragment F on Pet { status __typename }'],
    ['{ __typename a: pets { id } orders b: pets(limit: 2, status: sold) { n: name } }'],
    ['{ pets { id } wrong: pets(limit: 0) { id } }'],
    ['query ($yes: Boolean! = true) { pets { id @skip(if: $yes) name @include(if: $yes) } }'],
    // These lists are decoded, unless the operation selects only what they have.
    ['{ pets { id name categoryId status } }', '[{"id":1,"name":"a","categoryId":2}]'],
    ['{ pets { id name categoryId status } }', '[ {"id":1,"name":"a","categoryId":2} ]'],
    ['{ pets { id name } }', '[{"id":1,"name":"a","categoryId":2}]'],
    [
      '{ pets { id s: status } }',
      '[{"id":1,"name":"a","categoryId":2},{"id":1,"name":"a","categoryId":2,"status":"lost"}]',
    ],
  ])('is byte for byte the same as one written from objects: %s %s', async (query, list = usual) => {
    await using service = await startWithPets(list);
    const first = await service.send(query);
    for (let repeat = 0; repeat < 3; repeat++) expect(await service.send(query)).toBe(first);
  });

  it('is kept next to a field that makes the response too large', async () => {
    await using service = await startWithPets(usual, JSON.stringify('x'.repeat(3_000_000)));
    const query = '{ pets { id } a: orders b: orders c: orders d: orders }';
    const first = await service.send(query);
    expect(first).toContain('RESPONSE_TOO_LARGE');
    expect(first).toContain('"pets":[{"id":"1"},');
    for (let repeat = 0; repeat < 3; repeat++) expect(await service.send(query)).toBe(first);
  });

  it('is parsed for a caller in the same process', async () => {
    await using service = await startWithPets(usual);
    const query = '{ pets { id status } none: pets(limit: 0) { id } }';
    const first = await service.execute(query, {}, { authorization, requestId: 'test' });
    expect(first.data).toEqual({
      pets: [
        { id: '1', status: 'sold' },
        { id: '9007199254740993', status: 'available' },
        { id: '-5', status: 'pending' },
      ],
      none: null,
    });
    for (let repeat = 0; repeat < 3; repeat++) {
      const caller = { authorization, requestId: 'test' };
      expect(await service.execute(query, {}, caller)).toEqual(first);
    }
  });
});
