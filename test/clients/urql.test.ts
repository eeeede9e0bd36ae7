import {
  Client,
  cacheExchange,
  type Exchange,
  fetchExchange,
  makeOperation,
  mapExchange,
} from '@urql/core';
import { cacheExchange as graphcache } from '@urql/exchange-graphcache';
import { persistedExchange } from '@urql/exchange-persisted';
import { describe, expect, it } from 'vitest';
import {
  AddPetDocument,
  GetPetDocument,
  isGatewayError,
  ListPetsDocument,
  persistedHash,
  StorefrontDocument,
} from '../../packages/client/src/index.ts';
import { openPersistedDocuments } from '../../src/server/graphql/persisted-documents.ts';
import { hanging, withoutOrders } from '../support/faulty-pet-stores.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { manifestFile } from '../support/manifest.ts';
import { recording } from '../support/recording.ts';

/** Creates a client as documented, and records its requests. */
function createClient(url: string, exchanges: readonly Exchange[] = [cacheExchange]) {
  const requests: { method: string; url: string; body: string }[] = [];
  const client = new Client({
    url: `${url}/graphql`,
    fetchOptions: { headers: { authorization: 'Bearer demo-key' } },
    exchanges: [...exchanges, fetchExchange],
    fetch: (input, init) => {
      const body = String(init?.body ?? '');
      requests.push({ method: init?.method ?? 'GET', url: String(input), body });
      return fetch(input, init);
    },
  });
  return { client, requests };
}

describe('urql', () => {
  it('lists and adds animals, with every digit of their ids', async () => {
    await using service = await startGateway();
    const { client } = createClient(service.url);
    const list = await client.query(ListPetsDocument, { limit: 2 });
    expect(list.data?.pets?.map(({ name }) => name)).toEqual(['Biscuit', 'Marmalade']);
    const input = { name: 'Rex', categoryId: '9223372036854775807' };
    const added = await client.mutation(AddPetDocument, { input });
    expect(added.data?.addPet).toMatchObject({ ...input, status: null });
  });

  it('caches each animal once, by its id, and reads it from Graphcache', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const resolvers = {
      Query: { pet: (_: unknown, { id }: { id?: string }) => ({ __typename: 'Pet', id }) },
    };
    const { client } = createClient(service.url, [graphcache({ resolvers })]);
    await client.query(ListPetsDocument, { limit: 2 });
    const { data } = await client.query(GetPetDocument, { id: '1' });
    expect(data?.pet?.name).toBe('Biscuit');
    expect(calls).toEqual(['listPets {"limit":2}']);
  });

  it('returns partial data beside the typed error', async () => {
    await using service = await startGateway({ petStore: withoutOrders(await openBuiltin()) });
    const { client } = createClient(service.url);
    const { data, error } = await client.query(StorefrontDocument, { limit: 1 });
    expect(data).toMatchObject({ available: [{ name: 'Biscuit' }], orders: null });
    const [failed] = error?.graphQLErrors ?? [];
    if (!isGatewayError(failed, 'UPSTREAM_ERROR')) throw error;
    expect([failed.path, failed.extensions.status]).toEqual([['orders'], 503]);
  });

  it('cancels the REST call when its last subscriber leaves', async () => {
    const { petStore, called, ended } = hanging(await openBuiltin());
    await using service = await startGateway({ petStore });
    const { client } = createClient(service.url);
    const { unsubscribe } = client.query(ListPetsDocument, {}).subscribe(() => {});
    await called;
    unsubscribe();
    await ended;
  });

  it('sends the hashes of queries by GET and of mutations by POST', async () => {
    const persistedDocuments = await openPersistedDocuments({
      mode: 'only',
      files: [manifestFile],
    });
    await using service = await startGateway({ persistedDocuments });
    const persisted = persistedExchange({
      enforcePersistedQueries: true,
      enableForMutation: true,
      generateHash: async (_, document) => persistedHash(document),
    });
    const { client, requests } = createClient(service.url, [cacheExchange, persisted]);
    const list = await client.query(ListPetsDocument, { limit: 1 });
    expect(list.data?.pets).toMatchObject([{ __typename: 'Pet', name: 'Biscuit' }]);
    const input = { name: 'Rex', categoryId: '1' };
    const added = await client.mutation(AddPetDocument, { input });
    expect(added.data?.addPet?.name).toBe('Rex');
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
    expect(requests[1]?.body).not.toContain('addPet');
  });

  it('sends the document when the gateway does not know its hash', async () => {
    const persistedDocuments = await openPersistedDocuments({ mode: 'allow', files: undefined });
    await using service = await startGateway({ persistedDocuments });
    const { client, requests } = createClient(service.url, [
      cacheExchange,
      persistedExchange({
        enableForMutation: true,
        generateHash: async (_text, document) => persistedHash(document),
      }),
      mapExchange({
        onOperation(operation) {
          if (!operation.extensions?.persistedQuery?.miss) return operation;
          const { persistedQuery, ...extensions } = operation.extensions;
          return makeOperation(operation.kind, { ...operation, extensions });
        },
      }),
    ]);
    const { data } = await client.query(ListPetsDocument, { limit: 1 });
    expect(data?.pets).toHaveLength(1);
    const input = { name: 'Rex', categoryId: '1' };
    const added = await client.mutation(AddPetDocument, { input });
    expect(added.data?.addPet?.name).toBe('Rex');
    const sendsText = requests.map(({ url, body }) => /"query"|[?&]query=/.test(url + body));
    expect(sendsText).toEqual([false, true, false, true]);
  });

  it('registers a document with its hash, and then sends only the hash', async () => {
    const persistedDocuments = await openPersistedDocuments({ mode: 'allow', files: undefined });
    await using service = await startGateway({ persistedDocuments });
    const persisted = persistedExchange({ preferGetForPersistedQueries: false });
    const { client, requests } = createClient(service.url, [persisted]);
    for (const limit of [1, 2]) {
      const { data } = await client.query(ListPetsDocument, { limit });
      expect(data?.pets).toHaveLength(limit);
    }
    const sendsText = requests.map(({ body }) => body.includes('query ListPets'));
    expect(sendsText).toEqual([false, true, false]);
  });

  it('sends documents without hashes if the gateway does not support them', async () => {
    await using service = await startGateway();
    const { client, requests } = createClient(service.url, [persistedExchange()]);
    for (const limit of [1, 2]) {
      const { data } = await client.query(ListPetsDocument, { limit });
      expect(data?.pets).toHaveLength(limit);
    }
    expect(requests).toHaveLength(3);
  });
});
