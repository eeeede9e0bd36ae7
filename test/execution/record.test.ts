import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { JsonText } from '../../src/contract/json.ts';
import { PetsText } from '../../src/contract/pets-text.ts';
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
  const writeEach = vi.spyOn(PetsText.prototype, 'writeEach');
  onTestFinished(() => writeEach.mockRestore());
  const headers = { authorization, 'x-request-id': 'test' };
  const send = async (query: string) =>
    (await postGraphQL(gateway.gateway, query, undefined, headers)).text;
  return { ...gateway, writeEach, send };
}

describe('a list of animals that is written from the REST response text', () => {
  it.each([
    '{ pets { id name categoryId status } }',
    '{ pets { __typename status } }',
    '{ pets { type: __typename id again: id name id } }',
    '{ pets { ...F ... on Pet { name } } } fragment F on Pet { status __typename }',
    '{ __typename a: pets { id } orders b: pets(limit: 2, status: sold) { n: name } }',
    '{ pets { id } wrong: pets(limit: 0) { id } }',
    'query ($yes: Boolean! = true) { pets { id @skip(if: $yes) name @include(if: $yes) } }',
  ])('is byte for byte the same as one written from objects: %s', async (query) => {
    await using service = await startWithPets(usual);
    const first = await service.send(query);
    expect(service.writeEach).not.toHaveBeenCalled();
    for (let repeat = 0; repeat < 3; repeat++) expect(await service.send(query)).toBe(first);
    expect(service.writeEach).toHaveReturnedWith(expect.any(JsonText));
  });

  it.each([
    ['{ pets { id name categoryId status } }', '[{"id":1,"name":"a","categoryId":2}]', false],
    ['{ pets { id name categoryId status } }', '[ {"id":1,"name":"a","categoryId":2} ]', false],
    ['{ pets { id name } }', '[{"id":1,"name":"a","categoryId":2}]', true],
  ])('is decoded if it differs in what is selected: %s %s', async (query, list, isWritten) => {
    await using service = await startWithPets(list);
    const first = await service.send(query);
    for (let repeat = 0; repeat < 3; repeat++) expect(await service.send(query)).toBe(first);
    const written = service.writeEach.mock.results.some(({ value }) => value !== undefined);
    expect(written).toBe(isWritten);
  });

  it('is kept next to a field that makes the response too large', async () => {
    await using service = await startWithPets(usual, JSON.stringify('x'.repeat(3_000_000)));
    const query = '{ pets { id } a: orders b: orders c: orders d: orders }';
    const first = await service.send(query);
    expect(first).toContain('RESPONSE_TOO_LARGE');
    expect(first).toContain('"pets":[{"id":"1"},');
    for (let repeat = 0; repeat < 3; repeat++) expect(await service.send(query)).toBe(first);
    expect(service.writeEach).toHaveReturnedWith(expect.any(JsonText));
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
    expect(service.writeEach).toHaveReturnedWith(expect.any(JsonText));
  });
});
