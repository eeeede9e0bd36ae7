import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { AddPetDocument, ListPetsDocument } from '../../packages/client/src/documents.ts';
import { persistedHash } from '../../packages/client/src/persisted-hash.ts';
import {
  openPersistedDocuments,
  type PersistedDocuments,
} from '../../src/yoga/persisted-documents.ts';
import { createFolder } from '../support/folder.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { manifestFile as file } from '../support/manifest.ts';
import { recording } from '../support/recording.ts';

const query = '{ pets(limit: 1) { id } }';
const pets = { data: { pets: [{ id: '1' }] } };

const sha256 = (text: string) => hash('sha256', text);
const apollo = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

/** Starts a gateway in this mode, with codegen's manifest of the named operations. */
async function open(mode: PersistedDocuments['mode']) {
  const { petStore, calls } = recording(await openBuiltin());
  const persistedDocuments = await openPersistedDocuments({ mode, files: [file] });
  const opened = await startGateway({ petStore, persistedDocuments });
  return {
    ...opened,
    calls,
    async post(body: object, authorization = withKey.authorization) {
      const headers: Record<string, string> = authorization === '' ? {} : { authorization };
      return (await fetch(graphqlRequest(opened.url, body, headers))).json();
    },
    get: (search: Record<string, string>) =>
      fetch(`${opened.url}/graphql?${new URLSearchParams(search)}`, { headers: withKey }),
  };
}

const refused = (code: string, message: unknown = expect.any(String)) => ({
  errors: [{ message, extensions: { code, requestId: expect.any(String) } }],
});

describe('PERSISTED_DOCUMENTS=off', () => {
  it('executes documents sent as text, and refuses a hash alone', async () => {
    await using opened = await open('off');
    const extensions = apollo(sha256(query));
    expect(await opened.post({ query, extensions })).toEqual(pets);
    expect(await opened.post({ extensions })).toEqual(
      refused('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported'),
    );
  });
});

describe('PERSISTED_DOCUMENTS=allow', () => {
  it('executes documents of the manifest by hash, and any document sent as text', async () => {
    await using opened = await open('allow');
    const hash = persistedHash(ListPetsDocument);
    const expected = { data: { pets: [{ __typename: 'Pet', id: '1' }] } };
    const variables = { limit: 1 };
    for (const body of [
      { documentId: hash },
      { documentId: hash.replace('sha256:', '') },
      { extensions: apollo(hash) },
    ]) {
      expect(await opened.post({ ...body, variables })).toMatchObject(expected);
    }
    expect(await opened.post({ query })).toEqual(pets);
  });

  it.each([
    'allow',
    'audit',
  ] as const)('registers a document that is sent with its hash, for that key only: %s', async (mode) => {
    await using opened = await open(mode);
    const extensions = apollo(sha256(query));
    const unknown = refused('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
    expect(await opened.post({ extensions })).toEqual(unknown);
    expect(await opened.post({ query, extensions })).toEqual(pets);
    expect(await opened.post({ extensions })).toEqual(pets);
    expect(await opened.post({ extensions }, 'Bearer wrong-key')).toEqual(unknown);
    expect(await opened.post({ extensions }, '')).toEqual(unknown);
  });

  it('registers no documents of clients without an accepted key', async () => {
    await using opened = await open('allow');
    const send = (index: number, authorization?: string) => {
      const document = `${query} # ${index} ${'x'.repeat(15_000)}`;
      return opened.post({ query: document, extensions: apollo(sha256(document)) }, authorization);
    };
    await opened.post({ query, extensions: apollo(sha256(query)) });
    for (let index = 0; index < 160; index++) {
      const authorization = index % 2 === 0 ? '' : 'Bearer made-up-key';
      expect(await send(index, authorization)).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      });
    }
    expect(await opened.post({ extensions: apollo(sha256(query)) })).toEqual(pets);
  });

  it('refuses a document with the hash of another', async () => {
    await using opened = await open('allow');
    const extensions = apollo(sha256('{ __typename }'));
    const mismatch = refused('PERSISTED_QUERY_MISMATCH', expect.stringContaining(sha256(query)));
    expect(await opened.post({ query, extensions })).toEqual(mismatch);
    expect(opened.calls).toEqual([]);
  });

  it('evicts the oldest documents beyond 4 MiB', async () => {
    await using opened = await open('allow');
    const document = (index: number) => `${query} # ${index} ${'x'.repeat(30_000)}`;
    const register = (index: number) =>
      opened.post({ query: document(index), extensions: apollo(sha256(document(index))) });
    for (let index = 0; index < 80; index++) await register(index);
    const known = async (index: number) =>
      'data' in (await opened.post({ extensions: apollo(sha256(document(index))) }));
    expect(await known(79)).toBe(true);
    expect(await known(40)).toBe(true);
    expect(await known(0)).toBe(false);
  });
});

describe('PERSISTED_DOCUMENTS=only', () => {
  it.each([
    ['a text', { query }, 'the text of a document'],
    ['introspection', { query: '{ __schema { types { name } } }' }, 'the text of a document'],
    [
      'a text of the manifest',
      { query: print(ListPetsDocument), documentId: persistedHash(ListPetsDocument) },
      'the text of a document',
    ],
    ['an unknown hash', { extensions: apollo(sha256(query)) }, 'an unknown hash'],
    ['the name of a property', { documentId: '__proto__' }, 'an unknown hash'],
    ['another type', { documentId: 5 }, 'no hash'],
    ['nothing', {}, 'no hash'],
  ])('refuses %s, before any call', async (_, body, received) => {
    await using opened = await open('only');
    expect(await opened.post(body)).toEqual(
      refused(
        'PERSISTED_DOCUMENT_REQUIRED',
        `This gateway executes only the documents in its manifest: expected the hash of one, received ${received}. Ask its operator to add your document, and send only its hash.`,
      ),
    );
    expect(opened.calls).toEqual([]);
  });
});

describe('a GET', () => {
  it('can be cached by browsers, but not by shared caches', async () => {
    await using opened = await open('only');
    const search = { documentId: persistedHash(ListPetsDocument), variables: '{"limit":1}' };
    const response = await opened.get(search);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(response.headers.get('vary')).toBe('Authorization, Accept, X-Petstore-Explain');
    expect(await response.json()).toMatchObject({ data: { pets: [{ id: '1' }] } });
    const parameters = { documentId: persistedHash(ListPetsDocument) };
    const { headers } = await fetch(graphqlRequest(opened.url, parameters));
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual([null, null]);
  });

  it('executes no mutation, not even by hash', async () => {
    await using opened = await open('only');
    const response = await opened.get({
      extensions: JSON.stringify(apollo(persistedHash(AddPetDocument))),
      variables: '{"input":{"name":"x","categoryId":"1"}}',
    });
    expect(response.status).toBe(405);
    expect(opened.calls).toEqual([]);
  });
});

describe('a manifest', () => {
  const document = 'query Names { pets(limit: 1) { name } }';
  const id = sha256(document);
  const format = 'apollo-persisted-query-manifest';
  const isOther = 'a document with the SHA-256';

  const folder = createFolder();

  /** Opens a manifest of this content, between two others. */
  async function openManifest(content: unknown) {
    const path = join(folder, 'manifest.json');
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return openPersistedDocuments({ mode: 'only', files: [file, path, file] });
  }

  it.each([
    ["codegen's", { [`sha256:${id}`]: document }],
    ["codegen's", `\uFEFF${JSON.stringify({ [id]: document })}`],
    ["Apollo's", { format, version: 1, operations: [{ id, body: document, type: 'query' }] }],
  ])('in %s format is used with others', async (_, content) => {
    const { manifest } = await openManifest(content);
    expect(manifest.get(id)).toBe(document);
    expect(manifest.size).toBe(Object.keys(JSON.parse(await readFile(file, 'utf8'))).length + 1);
  });

  it.each([
    ['[]', 'JSON that is not an object'],
    ['{"abc": 5}', 'at "abc", no text'],
    ['{', "Expected property name or '}' in JSON"],
    ['{}', 'no documents'],
    ['{"abc": "{ pets"}', 'at "abc", Syntax Error'],
    [{ [`sha256:${id}`]: query }, `at "sha256:${id}", ${isOther} ${sha256(query)}`],
    [{ format: 'other' }, 'the format "other"'],
    [{ format }, 'no list of operations'],
    [{ format, operations: [{ body: document }] }, 'an operation without an id'],
    [{ format, operations: [{ id }] }, `at "${id}", no text`],
    [{ format, operations: [{ id: '1', body: document }] }, `at "1", ${isOther} ${id}`],
  ])('prevents the start when it contains %j', async (content, found) => {
    await expect(openManifest(content)).rejects.toThrow(
      `PERSISTED_DOCUMENTS_FILE: expected a manifest of documents by their SHA-256, in codegen's or Apollo's format, in ${folder}/manifest.json, found: ${found}`,
    );
  });
});
