import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPersistedDocuments } from '../../src/server/graphql/persisted-documents.ts';
import { startGateway } from '../support/gateway.ts';

const body = 'query Names { pets(limit: 1) { name } }';
const id = createHash('sha256').update(body).digest('hex');
const format = 'apollo-persisted-query-manifest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pet-store-manifest-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function open(manifest: object) {
  const file = join(folder, 'manifest.json');
  await writeFile(file, JSON.stringify(manifest));
  return openPersistedDocuments({ mode: 'only', file });
}

describe("a manifest in Apollo's format", () => {
  it('contains documents that are executed by id', async () => {
    const operations = [{ id, body, name: 'Names', type: 'query' }];
    const persistedDocuments = await open({ format, version: 1, operations });
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
    await expect(open(manifest)).rejects.toThrow(`found: ${found}`);
  });
});

describe('a manifest', () => {
  it('prevents the start when a document does not match its hash', async () => {
    const tampered = { [`sha256:${id}`]: '{ __typename }' };
    const actual = createHash('sha256').update('{ __typename }').digest('hex');
    await expect(open(tampered)).rejects.toThrow(
      `found: at "sha256:${id}", a document with the SHA-256 ${actual}`,
    );
  });
});
