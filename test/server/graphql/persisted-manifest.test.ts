import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPersistedDocuments } from '../../../src/server/graphql/persisted-documents.ts';
import { startGateway } from '../../support/gateway.ts';
import { manifestFile } from '../../support/manifest.ts';

const body = 'query Names { pets(limit: 1) { name } }';
const id = createHash('sha256').update(body).digest('hex');
const format = 'apollo-persisted-query-manifest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pet-store-manifest-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function open(text: string) {
  const file = join(folder, 'manifest.json');
  await writeFile(file, text);
  return openPersistedDocuments({ mode: 'only', files: [file] });
}

describe("a manifest in Apollo's format", () => {
  it('contains documents that are executed by id', async () => {
    const operations = [{ id, body, name: 'Names', type: 'query' }];
    const persistedDocuments = await open(JSON.stringify({ format, version: 1, operations }));
    await using service = await startGateway({ persistedDocuments });
    const extensions = { persistedQuery: { version: 1, sha256Hash: id } };
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
      body: JSON.stringify({ extensions }),
    });
    expect(await response.json()).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
  });

  it.each([
    ['another format', { format: 'other' }, 'the format "other"'],
    ['no operations', { format }, 'no list of operations'],
    ['an empty list', { format, operations: [] }, 'no documents'],
    ['null', { format, operations: [null] }, 'an operation without an id'],
    ['no id', { format, operations: [{ body }] }, 'an operation without an id'],
    ['no body', { format, operations: [{ id }] }, `at "${id}", no text`],
    [
      'an id that is not the hash',
      { format, operations: [{ id: '1', body }] },
      'at "1", a document with',
    ],
  ])('prevents the start when it contains %s', async (_, manifest, found) => {
    await expect(open(JSON.stringify(manifest))).rejects.toThrow(`found: ${found}`);
  });
});

describe('several manifests', () => {
  it('are used as one', async () => {
    const file = join(folder, 'second.json');
    await writeFile(file, JSON.stringify({ [`sha256:${id}`]: body }));
    const files = [manifestFile, file, manifestFile];
    const { manifest } = await openPersistedDocuments({ mode: 'only', files });
    expect(manifest.get(id)).toBe(body);
    const packaged = JSON.parse(await readFile(manifestFile, 'utf8'));
    expect(manifest.size).toBe(Object.keys(packaged).length + 1);
  });
});

describe('a manifest', () => {
  it('contains documents by the SHA-256 of their text, as codegen writes it', async () => {
    const manifest = JSON.parse(await readFile(manifestFile, 'utf8'));
    for (const [hash, document] of Object.entries(manifest)) {
      const actual = createHash('sha256').update(document as string);
      expect(hash).toBe(`sha256:${actual.digest('hex')}`);
    }
  });

  it.each([
    ['[]', 'JSON that is not an object'],
    ['null', 'JSON that is not an object'],
    ['{"abc": 5}', 'at "abc", no text'],
    ['{', /JSON/],
    ['{}', 'no documents'],
    ['{"abc": "{ pets"}', 'at "abc", Syntax Error'],
  ])('prevents the start when it contains %s', async (text, found) => {
    const opening = open(text);
    await expect(opening).rejects.toThrow(found);
    const file = join(folder, 'manifest.json');
    await expect(opening).rejects.toThrow(
      `PERSISTED_DOCUMENTS_FILE: expected a manifest of documents by their SHA-256, in codegen's or Apollo's format, in ${file}, found: `,
    );
  });

  it('prevents the start when it is missing', async () => {
    const files = [manifestFile, join(folder, 'none.json')];
    const opening = openPersistedDocuments({ mode: 'allow', files });
    await expect(opening).rejects.toThrow(/ENOENT/);
  });

  it('prevents the start when a document does not match its hash', async () => {
    const tampered = { [`sha256:${id}`]: '{ __typename }' };
    const actual = createHash('sha256').update('{ __typename }').digest('hex');
    await expect(open(JSON.stringify(tampered))).rejects.toThrow(
      `found: at "sha256:${id}", a document with the SHA-256 ${actual}`,
    );
  });
});
