import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPetStore } from '../../../src/backends/open.ts';
import { JsonText } from '../../../src/contract/json.ts';
import { PetsText } from '../../../src/contract/pets-text.ts';
import { startGateway } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

const authorization = 'Bearer demo-key';

const usual = `[
{"id":1,"name":"Biscuit","categoryId":2,"status":"sold"},
{"id":9007199254740993,"name":"größer 🐕 }],$1","categoryId":-1,"status":"available"},
{"id":-5,"name":"","categoryId":0,"status":"pending"}
]`.replaceAll('\n', '');

/** Starts a gateway and a REST service with these response bodies. */
async function startWithPets(list: string, orders = '{"orders":[]}') {
  const upstream = await startUpstream(({ url }, response) =>
    sendJson(response, 200, url.startsWith('/v1/pets') ? list : orders),
  );
  const petStore = await openPetStore(
    {
      kind: 'rest',
      baseUrl: new URL(`${upstream.url}/v1`),
      messagesBaseUrl: undefined,
      timeoutMs: 10_000,
    },
    quiet,
  );
  const gateway = await startGateway({ petStore });
  const writeEach = vi.spyOn(PetsText.prototype, 'writeEach');
  onTestFinished(() => writeEach.mockRestore());
  return {
    ...gateway,
    writeEach,
    async send(query: string): Promise<string> {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', 'x-request-id': 'test' },
        body: JSON.stringify({ query }),
      });
      return response.text();
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
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
    ['an absent status', '[{"id":1,"name":"a","categoryId":2}]'],
    ['a null status', '[{"id":1,"name":"a","categoryId":2,"status":null}]'],
    ['an unknown status', '[{"id":1,"name":"a","categoryId":2,"status":"lost"}]'],
    ['another order of keys', '[{"name":"a","id":1,"categoryId":2}]'],
    ['spaces', '[ {"id":1,"name":"a","categoryId":2} ]'],
    ['an id that is a string', '[{"id":"1","name":"a","categoryId":2}]'],
    ['half a list', '[{"id":1,"name":"a","categoryId":2}'],
    ['another type', '{"id":1}'],
  ])('is decoded if it contains %s', async (_, list) => {
    await using service = await startWithPets(list);
    const query = '{ pets { id name categoryId status } }';
    const first = await service.send(query);
    for (let repeat = 0; repeat < 3; repeat++) expect(await service.send(query)).toBe(first);
    expect(service.writeEach).not.toHaveBeenCalled();
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
