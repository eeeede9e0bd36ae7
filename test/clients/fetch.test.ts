import { print } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  AddPetDocument,
  isGatewayError,
  ListPetsDocument,
  type ListPetsQuery,
  persistedHash,
  StorefrontDocument,
} from '../../packages/client/src/index.ts';
import { openPersistedDocuments } from '../../src/server/graphql/persisted-documents.ts';
import { hanging, withoutOrders } from '../support/faulty-pet-stores.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { manifestFile } from '../support/manifest.ts';

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
const post = (url: string, body: object, signal: AbortSignal | null = null) =>
  fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body), signal });

describe('plain fetch', () => {
  it('adds an animal with every digit of its ids', async () => {
    await using service = await startGateway();
    const variables = { input: { name: 'Rex', categoryId: '9223372036854775807' } };
    const response = await post(service.url, { query: print(AddPetDocument), variables });
    expect(await response.json()).toMatchObject({ data: { addPet: variables.input } });
  });

  it('returns partial data beside the typed error', async () => {
    await using service = await startGateway({ petStore: withoutOrders(await openBuiltin()) });
    const response = await post(service.url, { query: print(StorefrontDocument) });
    const { data, errors } = await response.json();
    expect(response.status).toBe(200);
    expect(data).toMatchObject({ available: [{ name: 'Biscuit' }, {}, {}], orders: null });
    expect(isGatewayError(errors[0], 'UPSTREAM_ERROR')).toBe(true);
  });

  it('cancels the REST call when its caller aborts', async () => {
    const { petStore, called, ended } = hanging(await openBuiltin());
    await using service = await startGateway({ petStore });
    const caller = new AbortController();
    const aborted = expect(
      post(service.url, { query: print(ListPetsDocument) }, caller.signal),
    ).rejects.toMatchObject({ name: 'AbortError' });
    await called;
    caller.abort();
    await aborted;
    await ended;
  });

  it('requests a persisted document by its hash in a URL', async () => {
    const persistedDocuments = await openPersistedDocuments({
      mode: 'only',
      files: [manifestFile],
    });
    await using service = await startGateway({ persistedDocuments });
    const url = new URL('/graphql', service.url);
    url.searchParams.set('documentId', persistedHash(ListPetsDocument));
    url.searchParams.set('variables', JSON.stringify({ limit: 1 }));
    const response = await fetch(url, { headers });
    const { data }: { data: ListPetsQuery } = await response.json();
    expect(data.pets).toMatchObject([{ id: '1', name: 'Biscuit' }]);
  });
});
