import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { describe, expect, it } from 'vitest';
import { GetPetDocument } from '../../packages/client/src/index.ts';
import { openGateway, startGateway } from '../support/gateway.ts';
import { graphqlRequest, postGraphQL, withKey } from '../support/graphql.ts';
import { deprecatedUsesIn } from '../support/metrics.ts';

describe('the client that sent a request', () => {
  it('is logged, and counted when it uses a deprecated field', async () => {
    await using service = await startGateway();
    const client = new ApolloClient({
      link: new HttpLink({ uri: `${service.url}/graphql`, headers: withKey }),
      cache: new InMemoryCache(),
      clientAwareness: { name: 'shop web', version: '1.4.2' },
    });
    await client.query({ query: GetPetDocument, variables: { id: '1' } });
    expect(service.requests()).toMatchObject([
      {
        operation: 'query GetPet',
        client: { name: 'shop web', version: '1.4.2' },
        clientLibrary: { name: '@apollo/client', version: expect.stringMatching(/^4\./) },
      },
    ]);
    expect(await deprecatedUsesIn(service.metrics)).toEqual({ 'Query.pet GetPet shop web': 1 });
  });

  it('is identified by either pair of headers, or by its library', async () => {
    await using opened = await openGateway();
    const query = 'query Old { pet(id: 1) { id } }';
    const send = (headers: Record<string, string>, extensions = {}) =>
      opened.gateway(
        graphqlRequest('http://gateway.test', { query, extensions }, { ...withKey, ...headers }),
      );
    await send({ 'graphql-client-name': 'a', 'graphql-client-version': '1' });
    await send({ 'apollographql-client-name': 'b' });
    await send({}, { clientLibrary: { name: 'c', version: '3' } });
    await send({});
    const clients = ['a', 'b', 'c', 'unknown'].map((name) => [`Query.pet Old ${name}`, 1]);
    expect(await deprecatedUsesIn(opened.metrics)).toEqual(Object.fromEntries(clients));
    expect(opened.requests().map(({ client, clientLibrary }) => [client, clientLibrary])).toEqual([
      [{ name: 'a', version: '1' }, undefined],
      [{ name: 'b' }, undefined],
      [undefined, { name: 'c', version: '3' }],
      [undefined, undefined],
    ]);
  });

  it('is logged for an invalid request', async () => {
    await using opened = await openGateway();
    const headers = { 'graphql-client-name': 'early' };
    await postGraphQL(opened.gateway, '{ nope', {}, headers);
    await opened.gateway(new Request('http://gateway.test/graphql', { method: 'PUT', headers }));
    const client = { name: 'early' };
    expect(opened.requests()).toMatchObject([{ client }, { client }]);
  });

  it('is left out when its name is too long, of other characters or empty', async () => {
    await using opened = await openGateway();
    for (const name of ['x'.repeat(65), 'a"b', 'a\tb', '']) {
      const headers = { ...withKey, 'graphql-client-name': name, 'graphql-client-version': '1' };
      await postGraphQL(opened.gateway, '{ pets { id } }', {}, headers);
      expect(opened.requests().at(-1)).not.toHaveProperty('client');
    }
  });

  it('is left out when clientLibrary is no object with a name', async () => {
    await using opened = await openGateway();
    for (const clientLibrary of [null, 'text', [], {}, { name: 5 }, { name: {} }]) {
      const parameters = { query: '{ __typename }', extensions: { clientLibrary } };
      const response = await opened.gateway(graphqlRequest('http://gateway.test', parameters));
      expect(response.status).toBe(200);
      expect(opened.requests().at(-1)).not.toHaveProperty('clientLibrary');
    }
  });

  it('is counted as "other" for a key that was not accepted, and after fifty names', async () => {
    await using opened = await openGateway();
    const send = (name: string, key: string) => {
      const headers = { authorization: `Bearer ${key}`, 'graphql-client-name': name };
      return postGraphQL(opened.gateway, '{ pet(id: 1) { id } }', {}, headers);
    };
    await send('evil', 'wrong-key');
    const other = 'Query.pet anonymous other';
    expect(await deprecatedUsesIn(opened.metrics)).toEqual({ [other]: 1 });
    for (let index = 0; index < 60; index++) await send(`client-${index}`, 'demo-key');
    const uses = await deprecatedUsesIn(opened.metrics);
    expect(Object.keys(uses)).toHaveLength(51);
    expect(uses[other]).toBe(11);
  });
});

describe('a request that is no operation', () => {
  it('is logged with its method and the first 256 characters of its path, without its query', async () => {
    await using service = await startGateway();
    await fetch(`${service.url}/${'x'.repeat(300)}?key=secret`);
    expect(service.requests()).toMatchObject([{ operation: `GET /${'x'.repeat(255)}` }]);
    expect(service.lines.join()).not.toContain('secret');
  });
});
