import { createHash } from 'node:crypto';
import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  type ErrorPolicy,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
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
function createClient(url: string, key = 'demo-key', before: readonly ApolloLink[] = []) {
  const requests: { method: string; body: string }[] = [];
  const http = new HttpLink({
    uri: `${url}/graphql`,
    headers: { authorization: `Bearer ${key}` },
    fetch: (input, init) => {
      requests.push({ method: init?.method ?? 'GET', body: String(init?.body ?? '') });
      return fetch(input, init);
    },
  });
  const client = new ApolloClient({
    link: ApolloLink.from([...before, http]),
    cache: new InMemoryCache({
      typePolicies: {
        Query: {
          fields: {
            pet: {
              read: (known, { args, toReference }) =>
                known ?? toReference({ __typename: 'Pet', id: args?.['id'] }),
            },
          },
        },
      },
    }),
  });
  return { client, requests };
}

describe('Apollo Client', () => {
  it('lists and adds animals, with every digit of their ids', async () => {
    await using service = await startGateway();
    const { client } = createClient(service.url);
    const list = await client.query({ query: ListPetsDocument, variables: { limit: 2 } });
    expect(list.data?.pets?.map(({ name }) => name)).toEqual(['Biscuit', 'Marmalade']);
    const input = { name: 'Rex', categoryId: '9223372036854775807' };
    const added = await client.mutate({ mutation: AddPetDocument, variables: { input } });
    expect(added.data?.addPet).toMatchObject({ ...input, status: null });
  });

  it('caches each animal once, by its id, and reads it from the cache', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await startGateway({ petStore });
    const { client } = createClient(service.url);
    await client.query({ query: ListPetsDocument, variables: { limit: 2 } });
    expect(Object.keys(client.cache.extract() as object)).toEqual(
      expect.arrayContaining(['Pet:1', 'Pet:2']),
    );
    const { data } = await client.query({ query: GetPetDocument, variables: { id: '1' } });
    expect(data?.pet?.name).toBe('Biscuit');
    expect(calls).toEqual(['listPets {"limit":2}']);
  });

  it.each<[ErrorPolicy, boolean, boolean]>([
    ['none', false, true],
    ['all', true, true],
    ['ignore', true, false],
  ])('with the error policy %s, returns data: %s, error: %s', async (errorPolicy, hasData, hasError) => {
    await using service = await startGateway({ petStore: withoutOrders(await openBuiltin()) });
    const { client } = createClient(service.url);
    const result = await client
      .query({ query: StorefrontDocument, variables: { limit: 1 }, errorPolicy })
      .catch((error: unknown) => ({ data: undefined, error }));
    expect(result.data?.available?.map(({ name }) => name)).toEqual(
      hasData ? ['Biscuit'] : undefined,
    );
    if (hasData) expect(result.data?.orders).toBeNull();
    const errors = CombinedGraphQLErrors.is(result.error) ? result.error.errors : [];
    const failed = errors.filter((error) => isGatewayError(error, 'UPSTREAM_ERROR'));
    expect(failed.map(({ path, extensions }) => [path, extensions.status])).toEqual(
      hasError ? [[['orders'], 503]] : [],
    );
  });

  it('returns the typed error of a wrong key', async () => {
    await using service = await startGateway();
    const { client } = createClient(service.url, 'wrong-key');
    const error = await client.query({ query: ListPetsDocument }).catch((error) => error);
    if (!CombinedGraphQLErrors.is(error)) throw error;
    expect(error.errors.every((entry) => isGatewayError(entry, 'UNAUTHENTICATED'))).toBe(true);
  });

  it('cancels the REST call when its caller aborts', async () => {
    const { petStore, called, ended } = hanging(await openBuiltin());
    await using service = await startGateway({ petStore });
    const { client } = createClient(service.url);
    const caller = new AbortController();
    const fetchOptions = { signal: caller.signal };
    const aborted = expect(
      client.query({ query: ListPetsDocument, context: { fetchOptions } }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    await called;
    caller.abort();
    await aborted;
    await ended;
  });

  it('sends the hashes of queries by GET and of mutations by POST', async () => {
    const persistedDocuments = await openPersistedDocuments({
      mode: 'only',
      files: [manifestFile],
    });
    await using service = await startGateway({ persistedDocuments });
    const link = new PersistedQueryLink({
      generateHash: persistedHash,
      useGETForHashedQueries: true,
    });
    const { client, requests } = createClient(service.url, 'demo-key', [link]);
    const list = await client.query({ query: ListPetsDocument, variables: { limit: 1 } });
    expect(list.data?.pets).toMatchObject([{ __typename: 'Pet', name: 'Biscuit' }]);
    const variables = { input: { name: 'Rex', categoryId: '1' } };
    const added = await client.mutate({ mutation: AddPetDocument, variables });
    expect(added.data?.addPet?.name).toBe('Rex');
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
    expect(requests[1]?.body).not.toContain('addPet');
  });

  it('sends the document when the gateway does not know its hash', async () => {
    const persistedDocuments = await openPersistedDocuments({ mode: 'allow', files: undefined });
    await using service = await startGateway({ persistedDocuments });
    const { client, requests } = createClient(service.url, 'demo-key', [
      new PersistedQueryLink({ generateHash: persistedHash, useGETForHashedQueries: true }),
      new ApolloLink((operation, forward) => {
        if (operation.getContext()['http']?.includeQuery)
          delete operation.extensions['persistedQuery'];
        return forward(operation);
      }),
    ]);
    const { data } = await client.query({ query: ListPetsDocument, variables: { limit: 1 } });
    expect(data?.pets).toHaveLength(1);
    const variables = { input: { name: 'Rex', categoryId: '1' } };
    const added = await client.mutate({ mutation: AddPetDocument, variables });
    expect(added.data?.addPet?.name).toBe('Rex');
    const sent = requests.map(({ method, body }) => [method, body.includes('"query"')]);
    expect(sent).toEqual([
      ['GET', false],
      ['POST', true],
      ['POST', false],
      ['POST', true],
    ]);
  });

  it('registers a document with its hash, and then sends only the hash', async () => {
    const persistedDocuments = await openPersistedDocuments({ mode: 'allow', files: undefined });
    await using service = await startGateway({ persistedDocuments });
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const link = new PersistedQueryLink({ sha256 });
    const { client, requests } = createClient(service.url, 'demo-key', [link]);
    for (const limit of [1, 2]) {
      const { data } = await client.query({ query: ListPetsDocument, variables: { limit } });
      expect(data?.pets).toHaveLength(limit);
    }
    const sendsText = requests.map(({ body }) => body.includes('query ListPets'));
    expect(sendsText).toEqual([false, true, false]);
  });

  it('sends documents without hashes if the gateway does not support them', async () => {
    await using service = await startGateway();
    const link = new PersistedQueryLink({ generateHash: persistedHash });
    const { client, requests } = createClient(service.url, 'demo-key', [link]);
    for (const limit of [1, 2]) {
      const { data } = await client.query({ query: ListPetsDocument, variables: { limit } });
      expect(data?.pets).toHaveLength(limit);
    }
    expect(requests).toHaveLength(3);
  });
});
