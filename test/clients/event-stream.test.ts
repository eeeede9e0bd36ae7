import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { createClient, type RequestParams } from 'graphql-sse';
import { describe, expect, it } from 'vitest';
import { AddPetDocument, ListPetsDocument } from '../../packages/client/src/index.ts';
import { type Send, sendWithApollo, sendWithUrql } from '../support/clients.ts';
import { openBuiltin, startGateway, type TestOptions } from '../support/gateway.ts';
import { withKey } from '../support/graphql.ts';
import { petsFirst } from '../support/parts.ts';
import { recording } from '../support/recording.ts';

/** Sends an operation with graphql-sse, which sends it again up to five times. */
async function send(params: RequestParams, headers: object = {}, options: TestOptions = {}) {
  const { petStore, calls } = recording(await openBuiltin());
  await using service = await startGateway({ petStore, ...options });
  const statuses: number[] = [];
  const client = createClient({
    url: `${service.url}/graphql`,
    headers: { ...withKey, ...headers },
    retry: async () => {},
    async fetchFn(url: string, init: RequestInit) {
      const response = await fetch(url, init);
      statuses.push(response.status);
      return response;
    },
  });
  return { results: await Array.fromAsync(client.iterate(params)), statuses, calls };
}

const add = 'mutation ($name: String!) { addPet(input: { name: $name, categoryId: 1 }) { name } }';
const pet = { id: '1', name: 'Biscuit' };

describe('graphql-sse', () => {
  it.each<[string, RequestParams, object[]]>([
    ['a query', { query: '{ pet(id: 1) { id name } }' }, [{ data: { pet } }]],
    [
      'deferred fragments',
      { query: petsFirst },
      [{ data: { pets: [{ id: '1' }] }, hasNext: true }, { hasNext: false }],
    ],
    [
      'a fragment that is not deferred',
      { query: '{ pets(limit: 1) { id ... @defer(if: false) { name } } }' },
      [{ data: { pets: [pet] } }],
    ],
  ])('sends %s once, and reads its result', async (_, params, expected) => {
    const { results, statuses } = await send(params);
    expect(results).toMatchObject(expected);
    expect(statuses).toEqual([200]);
  });

  it('adds one pet with one mutation', async () => {
    const name = 'a\nb\r\u2028';
    const { results, calls } = await send({ query: add, variables: { name } });
    expect(results).toEqual([{ data: { addPet: { name } } }]);
    expect(calls).toHaveLength(1);
  });

  const typename = { query: '{ __typename }' };
  it.each<[code: string, ...request: Parameters<typeof send>]>([
    ['GRAPHQL_PARSE_FAILED', { query: '{' }],
    ['GRAPHQL_VALIDATION_FAILED', { query: '{ none }' }],
    ['BAD_USER_INPUT', { query: add, variables: { name: 1 } }],
    ['OPERATION_RESOLUTION_FAILURE', { ...typename, operationName: 'None' }],
    ['UNAUTHENTICATED', { query: '{ orders }' }, { authorization: '' }],
    [
      'UNAUTHENTICATED',
      { query: '{ __schema { description } }' },
      { authorization: 'Bearer unknown' },
      { introspection: 'keys' },
    ],
    ['BAD_REQUEST', typename, { 'x-petstore-timeout-ms': '0' }],
    ['BODY_TOO_LARGE', { query: `{ __typename } #${'x'.repeat(1024 * 1024)}` }],
    ['RATE_LIMITED', typename, {}, { maxRequestsInFlightPerKey: 0 }],
    ['OVERLOADED', typename, {}, { maxRequestsInFlight: 0 }],
  ])('reads the error %s, and sends the request once', async (code, ...request) => {
    const { results, statuses } = await send(...request);
    expect(results).toMatchObject([{ errors: [{ extensions: { code } }] }]);
    expect(statuses).toEqual([200]);
  });
});

describe('a client that accepts only multipart/mixed', () => {
  const headers = { ...withKey, accept: 'multipart/mixed' };
  it.each<[string, (uri: string, fetch: typeof globalThis.fetch) => Send]>([
    [
      'Apollo Client',
      (uri, fetch) => {
        const link = new HttpLink({ uri, headers, fetch });
        return sendWithApollo(new ApolloClient({ link, cache: new InMemoryCache() }));
      },
    ],
    [
      'urql',
      (url, fetch) => {
        const options = { url, fetch, fetchOptions: { headers }, exchanges: [fetchExchange] };
        return sendWithUrql(new UrqlClient(options));
      },
    ],
  ])('reads results and errors, with %s', async (_, create) => {
    await using service = await startGateway();
    const request = create(`${service.url}/graphql`, async (...args) => {
      const response = await fetch(...args);
      expect(response.headers.get('content-type')).toMatch(/^multipart\/mixed;/);
      return response;
    });
    const input = { name: 'Rex', categoryId: '1' };
    expect((await request(AddPetDocument, { input })).errors).toBeUndefined();
    expect(await request(ListPetsDocument, { limit: 1 })).toMatchObject({ data: { pets: [pet] } });
    expect(await request(ListPetsDocument, { limit: 'x' })).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });
});
