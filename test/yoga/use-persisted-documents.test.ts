import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ListPetsDocument, persistedHash } from '../../packages/client/src/index.ts';
import {
  openPersistedDocuments,
  type PersistedDocuments,
} from '../../src/yoga/persisted-documents.ts';
import { openGateway } from '../support/gateway.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { manifestFile } from '../support/manifest.ts';
import { valuesOf } from '../support/metrics.ts';

const listPets = { documentId: persistedHash(ListPetsDocument), operationName: 'ListPets' };
const query = 'query Shelf { pets(limit: 1) { id } }';
const warning = 'PERSISTED_DOCUMENTS=only would refuse this document';

/** Opens a gateway in this mode, whose clients are named `shop` unless they have another name. */
async function open(mode: PersistedDocuments['mode']) {
  const persistedDocuments = await openPersistedDocuments({ mode, files: [manifestFile] });
  const opened = await openGateway({ persistedDocuments });
  const entries = () => opened.lines.map((line) => JSON.parse(line));
  return {
    ...opened,
    async send(body: object, headers: Readonly<Record<string, string>> = withKey) {
      const named = { 'graphql-client-name': 'shop', ...headers };
      const request = graphqlRequest('http://gateway.test', body, named);
      return (await opened.gateway(request)).json();
    },
    counts: () =>
      valuesOf(
        opened.metrics,
        'petstore_graphql_documents_total',
        ...['source', 'operation', 'client'],
      ),
    /** Where the document of each request was from. */
    sources: () => entries().flatMap(({ msg, document }) => (msg === 'request' ? [document] : [])),
    warnings: () => entries().filter(({ msg }) => msg === warning),
  };
}

describe('the source of documents', () => {
  it('is in the log and the metrics with allow', async () => {
    await using opened = await open('allow');
    await opened.send(listPets);
    await opened.send({ query });
    // Registered, and sent by hash.
    const extensions = { persistedQuery: { version: 1, sha256Hash: hash('sha256', query) } };
    await opened.send({ query, extensions });
    expect(await opened.send({ extensions })).toHaveProperty('data.pets');
    // With its text, `only` would refuse a document of the manifest.
    await opened.send({ query: '{ __typename }' }, { ...withKey, 'graphql-client-name': 'till' });
    expect(opened.sources()).toEqual(['manifest', 'sent', 'sent', 'sent', 'sent']);
    expect(await opened.counts()).toEqual({
      'manifest ListPets shop': 1,
      'sent Shelf shop': 3,
      'sent anonymous till': 1,
    });
    expect(opened.warnings()).toEqual([]);
  });

  it('is not counted for keys that the backend has not accepted', async () => {
    await using opened = await open('audit');
    await opened.send({ query: 'query Probe { __typename }' }, {});
    await opened.send({ query: 'query Probe { pets { id } }' }, { authorization: 'Bearer wrong' });
    expect(opened.sources()).toEqual(['sent', 'sent']);
    expect(await opened.counts()).toEqual({});
    expect(opened.warnings()).toEqual([]);
  });

  it.each(['off', 'only'] as const)('is not reported with %s', async (mode) => {
    await using opened = await open(mode);
    await opened.send({ query });
    await opened.send(listPets);
    expect(opened.sources()).toEqual([undefined, undefined]);
    expect(await opened.counts()).toEqual({});
  });
});

describe('PERSISTED_DOCUMENTS=audit', () => {
  // Time passes only when a test lets it.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'], now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it('serves every document, and warns hourly of each operation and client', async () => {
    await using opened = await open('audit');
    const till = { ...withKey, 'graphql-client-name': 'till' };
    for (const headers of [withKey, withKey, till, till]) {
      expect(await opened.send({ query }, headers)).toHaveProperty('data.pets');
      expect(await opened.send(listPets, headers)).toHaveProperty('data.pets');
    }
    const expected = [
      { level: 'warn', operation: 'Shelf', client: 'shop' },
      { level: 'warn', operation: 'Shelf', client: 'till' },
    ];
    expect(opened.warnings()).toMatchObject(expected);
    vi.advanceTimersByTime(3_599_000);
    await opened.send({ query });
    expect(opened.warnings()).toHaveLength(2);
    vi.advanceTimersByTime(1000);
    await opened.send({ query });
    expect(opened.warnings()).toMatchObject([...expected, expected[0]]);
  });

  it('warns of every operation and client, however many there are', async () => {
    await using opened = await open('audit');
    // More than have labels.
    const names = Array.from({ length: 103 }, (_, index) => `Shelf${index}`);
    for (const name of [...names, ...names]) {
      await opened.send({ query: `query ${name} { pets(limit: 1) { id } }` });
    }
    expect(opened.warnings().map(({ operation }) => operation)).toEqual(names);
  });
});
