import { hash } from 'node:crypto';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { fetchExchange, makeOperation, mapExchange, Client as UrqlClient } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { persistedExchange } from '@urql/exchange-persisted';
import { type DocumentNode, print } from 'graphql';
import { describe, expect, it, vi } from 'vitest';
import {
  AddPetDocument,
  GetPetDocument,
  isGatewayError,
  ListOrdersDocument,
  ListPetsDocument,
  persistedHash,
  StorefrontDocument,
} from '../../packages/client/src/index.ts';
import { openPersistedDocuments } from '../../src/yoga/persisted-documents.ts';
import { isMutation, type Send, sendWithApollo, sendWithUrql } from '../support/clients.ts';
import { openBuiltin, startGateway, type TestOptions } from '../support/gateway.ts';
import { manifestFile } from '../support/manifest.ts';
import { holdingOrders, withoutOrders } from '../support/parts.ts';
import { recording } from '../support/recording.ts';

/**
 * What a client sends of a document: its text, only the hash of codegen, that hash first, or a hash
 * of its own first.
 */
type Sending = 'text' | 'only hashes' | 'hash first' | 'own hash first';

/** Creates a client as documented. */
type Create = (url: string, fetch: typeof globalThis.fetch, key: string, sending: Sending) => Send;

const apollo: Create = (uri, fetch, key, sending) => {
  const hashing =
    sending === 'own hash first'
      ? { sha256: (text: string) => hash('sha256', text) }
      : { generateHash: persistedHash, useGETForHashedQueries: true };
  const withoutHash = new ApolloLink((operation, forward) => {
    if (sending === 'hash first' && operation.getContext()['http']?.includeQuery)
      delete operation.extensions['persistedQuery'];
    return forward(operation);
  });
  const persisted = sending === 'text' ? [] : [new PersistedQueryLink(hashing), withoutHash];
  const http = new HttpLink({ uri, headers: { authorization: `Bearer ${key}` }, fetch });
  const client = new ApolloClient({
    link: ApolloLink.from([...persisted, http]),
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
  return sendWithApollo(client);
};

const urql: Create = (url, fetch, key, sending) => {
  const persisted = persistedExchange({
    enforcePersistedQueries: sending === 'only hashes',
    preferGetForPersistedQueries: sending !== 'own hash first',
    enableForMutation: sending !== 'own hash first',
    ...(sending !== 'own hash first' && {
      generateHash: async (_, document) => persistedHash(document),
    }),
  });
  const withoutHash = mapExchange({
    onOperation(operation) {
      if (sending !== 'hash first' || !operation.extensions?.persistedQuery?.miss) return operation;
      const { persistedQuery, ...extensions } = operation.extensions;
      return makeOperation(operation.kind, { ...operation, extensions });
    },
  });
  const pet = (_: unknown, { id }: { id?: string }) => ({ __typename: 'Pet', id });
  const client = new UrqlClient({
    url,
    fetchOptions: { headers: { authorization: `Bearer ${key}` } },
    exchanges: [
      cacheExchange({ resolvers: { Query: { pet } } }),
      ...(sending === 'text' ? [] : [persisted, withoutHash]),
      fetchExchange,
    ],
    fetch,
  });
  return sendWithUrql(client);
};

const plainFetch: Create = (url, fetch, key, sending) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return async (document, variables = {}, signal = undefined) => {
    const documentId = sending === 'text' ? undefined : persistedHash(document);
    const body = JSON.stringify(
      documentId ? { documentId, variables } : { query: print(document), variables },
    );
    const search = new URLSearchParams({
      documentId: documentId ?? '',
      variables: JSON.stringify(variables),
    });
    const init = { headers, ...(signal && { signal }) };
    const response =
      documentId && !isMutation(document)
        ? await fetch(`${url}?${search}`, init)
        : await fetch(url, { ...init, method: 'POST', body });
    return response.json();
  };
};

/** Starts a gateway and a client, and records the method of each request and whether it has a text. */
async function start(
  create: Create,
  options: TestOptions = {},
  sending: Sending = 'text',
  key = 'demo-key',
) {
  const service = await startGateway(options);
  const requests: string[] = [];
  const record: typeof fetch = (input, init) => {
    const hasText = /"query"|[?&]query=/.test(`${input}${init?.body ?? ''}`);
    requests.push(`${init?.method ?? 'GET'} ${hasText ? 'text' : 'hash'}`);
    return fetch(input, init);
  };
  return { ...service, requests, send: create(`${service.url}/graphql`, record, key, sending) };
}

const persisted = async (mode: 'only' | 'allow') => ({
  persistedDocuments: await openPersistedDocuments({
    mode,
    files: mode === 'only' ? [manifestFile] : undefined,
  }),
});
const rex = { name: 'Rex', categoryId: '9223372036854775807' };
const biscuit = { pets: [{ __typename: 'Pet', id: '1', name: 'Biscuit' }] };

const clients: readonly (readonly [string, Create])[] = [
  ['Apollo Client', apollo],
  ['urql', urql],
  ['plain fetch', plainFetch],
];

describe.each(clients)('%s', (_, create) => {
  it('lists and adds pets, with every digit of their ids', async () => {
    await using client = await start(create);
    expect(await client.send(ListPetsDocument, { limit: 1 })).toMatchObject({ data: biscuit });
    const { data } = await client.send(AddPetDocument, { input: rex });
    expect(data).toMatchObject({ addPet: { ...rex, status: null } });
  });

  it('returns partial data beside the typed error', async () => {
    await using client = await start(create, { petStore: withoutOrders(await openBuiltin()) });
    const { data, errors } = await client.send(StorefrontDocument, { limit: 1 });
    expect(data).toMatchObject({ available: [{ name: 'Biscuit' }], orders: null });
    const [failed] = errors ?? [];
    if (!isGatewayError(failed, 'UPSTREAM_ERROR')) throw failed;
    expect([failed.path, failed.extensions.status]).toEqual([['orders'], 503]);
  });

  it('cancels the REST call when its caller leaves', async () => {
    const { petStore, called, cancelled } = holdingOrders(await openBuiltin());
    await using client = await start(create, { petStore });
    const caller = new AbortController();
    const sent = client.send(ListOrdersDocument, {}, caller.signal);
    const aborted = expect(sent).rejects.toMatchObject({ name: 'AbortError' });
    await called(1);
    caller.abort();
    await aborted;
    await vi.waitFor(() => expect(cancelled()).toBe(1));
  });

  it('sends the hashes of queries by GET and of mutations by POST', async () => {
    await using client = await start(create, await persisted('only'), 'only hashes');
    expect(await client.send(ListPetsDocument, { limit: 1 })).toMatchObject({ data: biscuit });
    const { data } = await client.send(AddPetDocument, { input: rex });
    expect(data).toMatchObject({ addPet: rex });
    expect(client.requests).toEqual(['GET hash', 'POST hash']);
  });
});

describe.each(clients.slice(0, 2))('%s', (_, create) => {
  it('reads a pet of a list from its cache, by its id', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using client = await start(create, { petStore });
    await client.send(ListPetsDocument, { limit: 2 });
    const { data } = await client.send(GetPetDocument, { id: '1' });
    expect(data).toMatchObject({ pet: { name: 'Biscuit' } });
    expect(calls).toEqual(['listPets {"limit":2}']);
  });

  const list = [ListPetsDocument, { limit: 1 }] as const;
  const other = [ListPetsDocument, { limit: 2 }] as const;
  const add = [AddPetDocument, { input: rex }] as const;
  it.each<[string, Sending, boolean, (readonly [DocumentNode, object])[], string]>([
    [
      'the document when the gateway does not know its hash',
      'hash first',
      true,
      [list, add],
      'hash text hash text',
    ],
    [
      'a document with its hash, and then only the hash',
      'own hash first',
      true,
      [list, other],
      'hash text hash',
    ],
    [
      'documents without hashes if the gateway supports none',
      'own hash first',
      false,
      [list, other],
      'hash text text',
    ],
  ])('sends %s', async (_name, sending, isAllowed, operations, sent) => {
    await using client = await start(create, isAllowed ? await persisted('allow') : {}, sending);
    for (const [document, variables] of operations) {
      const { data, errors } = await client.send(document, variables);
      expect([data, errors]).toEqual([expect.anything(), undefined]);
    }
    expect(client.requests.map((request) => request.split(' ')[1]).join(' ')).toBe(sent);
  });
});
