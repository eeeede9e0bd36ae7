import { describe, expect, it } from 'vitest';
import { AddPetDocument, GetPetDocument } from '../../packages/client/src/documents.ts';
import { pet as petRecord } from '../../src/petstore/records.ts';
import { callWith, openBuiltin, openGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL, withKey } from '../support/graphql.ts';
import { recording } from '../support/recording.ts';
import { invalidDocuments, invalidValues } from './invalid-values.ts';

describe('the named operations', () => {
  it('add a pet with or without each field', async () => {
    await using opened = await openGateway();
    const { id, ...fields } = petRecord.fields;
    const whole = Object.values(fields).map(({ name, kind }) => [name, kind.example]);
    const optional = Object.values(fields).filter(({ isRequired }) => !isRequired);
    for (const omitted of [undefined, ...optional.map(({ name }) => name)]) {
      const input = Object.fromEntries(whole.filter(([name]) => name !== omitted));
      const added = await postGraphQL(opened.gateway, AddPetDocument, { input });
      const expected = { ...(omitted && { [omitted]: null }), ...input };
      expect(added.data?.addPet).toMatchObject(expected);
      const { id: newId = '' } = added.data?.addPet ?? {};
      const got = await postGraphQL(opened.gateway, GetPetDocument, { id: newId });
      expect(got.data?.pet).toMatchObject(expected);
    }
  });
});

describe('the REST calls of an operation', () => {
  async function callsOf(query: string, variables?: Record<string, unknown>) {
    const { petStore, calls } = recording(await openBuiltin());
    await using opened = await openGateway({ petStore });
    const response = await postGraphQL(opened.gateway, query, variables);
    return { ...response, calls };
  }

  it('do not start after the client has disconnected', async () => {
    const client = new AbortController();
    const builtin = await openBuiltin();
    const { petStore, calls } = recording({
      ...builtin,
      async createPet(call, pet) {
        const created = await builtin.createPet(call, pet);
        client.abort();
        await new Promise((resolve) => setImmediate(resolve));
        expect(call.cancelled).toBeDefined();
        return created;
      },
    });
    await using opened = await openGateway({ petStore });
    const addRex = 'addPet(input: { name: "Rex", categoryId: 2 }) { id }';
    const query = `mutation { a: ${addRex} b: ${addRex} }`;
    await opened.gateway(graphqlRequest('http://localhost', { query }, withKey, client.signal));
    expect(calls).toHaveLength(1);
    expect([...(await builtin.listPets(callWith(), {}))]).toHaveLength(13);
    expect(opened.logged).toEqual([]);
  });

  it('are shared by fields with equal arguments', async () => {
    const { calls, data } = await callsOf(
      '{ a: pets(limit: 100) { id } b: pets(limit: 100) { name } c: pets(status: sold) { id } }',
    );
    expect(calls).toEqual(['listPets {"limit":100}', 'listPets {"status":"sold"}']);
    expect(data).toMatchObject({ a: { length: 12 }, b: { length: 12 }, c: { length: 2 } });
  });

  it('are made once for each pet and once for the orders, however many fields select them', async () => {
    const { calls } = await callsOf(
      '{ a: pet(id: 1) { id } b: pet(id: "1") { name } c: pet(id: 2) { id } d: orders e: orders }',
    );
    expect(calls).toEqual(['getPet "1"', 'getPet "2"', 'listOrders']);
  });

  it('omit what is null or not given', async () => {
    const query =
      'query ($n: Int) { a: pets(limit: null, status: null) {id} b: pets {id} c: pets(limit: $n) {id} }';
    for (const variables of [{}, { n: null }]) {
      const { calls, errors } = await callsOf(query, variables);
      expect([calls, errors]).toEqual([['listPets {}'], undefined]);
    }
    const add = 'mutation { addPet(input: { name: "x", categoryId: 1, status: null }) { id } }';
    expect((await callsOf(add)).calls).toEqual(['createPet {"name":"x","categoryId":"1"}']);
  });

  it('are made once for each mutation field, in document order', async () => {
    const { calls, data } = await callsOf(
      `mutation {
        a: addPet(input: { name: "x", categoryId: 1 }) { id }
        b: addPet(input: { name: "x", categoryId: 1 }) { id }
      }`,
    );
    expect(calls).toEqual(Array(2).fill('createPet {"name":"x","categoryId":"1"}'));
    expect(data).toEqual({ a: { id: '13' }, b: { id: '14' } });
  });

  it.each(invalidValues)('are not made with %s %j', async (query, variables, message) => {
    const { calls, errors } = await callsOf(query, variables);
    expect(calls).toEqual([]);
    expect(errors?.[0]).toMatchObject({
      message: message instanceof RegExp ? expect.stringMatching(message) : message,
      extensions: { code: 'BAD_USER_INPUT', requestId: expect.any(String) },
    });
  });

  it.each(invalidDocuments)('are not made when a document is wrong: %s', async (query, message) => {
    const { calls, data, errors } = await callsOf(query, { id: 'dogs', l: 'x', off: 5 });
    expect([calls, data]).toEqual([[], undefined]);
    expect(errors?.[0]?.message.slice(0, message.length)).toBe(message);
    for (const { extensions } of errors ?? []) {
      const requestId = expect.any(String);
      expect(extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED', requestId });
    }
  });

  it.each([
    ['"9223372036854775807"'],
    ['9223372036854775807'],
    ['-9223372036854775808'],
    ['9007199254740993.0', '9007199254740993'],
    ['-922337203685477580.8e+1', '-9223372036854775808'],
    ['1e18', '1000000000000000000'],
    ['1.000000000000000', '1'],
  ])('preserve the digits of the id %s in variables', async (id, digits = id) => {
    const query = 'query ($id: ID!) { pet(id: $id) { id } }';
    const { calls } = await callsOf(query, { id: JSON.rawJSON(id) });
    expect(calls).toEqual([`getPet "${digits.replaceAll('"', '')}"`]);
  });

  it.each([
    '2.000000000000000',
    '2000000000000000000e-18',
    '0.2e1',
  ])('have the limit %s as 2', async (limit) => {
    const query = 'query ($l: Int) { pets(limit: $l) { id } }';
    const { calls, errors } = await callsOf(query, { l: JSON.rawJSON(limit) });
    expect([errors, calls]).toEqual([undefined, [expect.stringContaining('"limit":2')]]);
  });

  it.each([
    undefined,
    'Basic demo-key',
    'Bearer other, Bearer demo-key',
  ])('are not made with the Authorization header %j, also after one with the key', async (authorization) => {
    const { petStore, calls } = recording(await openBuiltin());
    await using opened = await openGateway({ petStore });
    await postGraphQL(opened.gateway, '{ orders }');
    expect(calls.splice(0)).toHaveLength(1);
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const { data, errors } = await postGraphQL(
      opened.gateway,
      '{ pets { id } orders pet(id: 1) { id } __typename }',
      {},
      headers,
    );
    expect(calls).toEqual([]);
    expect(data).toEqual({ pets: null, orders: null, pet: null, __typename: 'Query' });
    expect(errors?.map(({ path, extensions }) => [path, extensions['code']])).toEqual([
      [['pets'], 'UNAUTHENTICATED'],
      [['orders'], 'UNAUTHENTICATED'],
      [['pet'], 'UNAUTHENTICATED'],
    ]);
  });
});
