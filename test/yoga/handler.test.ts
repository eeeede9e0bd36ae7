import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PetStore } from '../../src/petstore/operations.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { graphqlRequest, withKey } from '../support/graphql.ts';
import { recording } from '../support/recording.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface Sent {
  readonly query: string;
  readonly variables?: object;
}

/**
 * The formats in which clients send an operation. Each function resolves to the response's text.
 */
const formats: Readonly<Record<string, (url: string, sent: Sent) => Promise<string>>> = {
  'a bare POST': (url, sent) => post(url, sent),
  "Apollo Client's POST": (url, sent) =>
    post(url, { ...sent, extensions: { clientLibrary: { name: '@apollo/client', version: '4' } } }),
  "urql's POST": (url, sent) => post(url, { ...sent, extensions: {} }),
  'a GET': (url, sent) => get(url, { query: sent.query, ...variablesOf(sent) }),
  'a POST of the hash': async (url, sent) => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(sent.query) } };
    await post(url, { ...sent, extensions });
    return post(url, { variables: sent.variables, extensions });
  },
  'a GET of the hash': async (url, sent) => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(sent.query) } };
    await post(url, { ...sent, extensions });
    return get(url, { documentId: `sha256:${sha256(sent.query)}`, ...variablesOf(sent) });
  },
};

function variablesOf({ variables }: Sent): Record<string, string> {
  return variables ? { variables: JSON.stringify(variables) } : {};
}

async function post(url: string, parameters: object): Promise<string> {
  return (await fetch(graphqlRequest(url, parameters))).text();
}

async function get(url: string, search: Record<string, string>): Promise<string> {
  const address = `${url}/graphql?${new URLSearchParams(search)}`;
  return (await fetch(address, { headers: withKey })).text();
}

const start = (petStore: Promise<PetStore> = openBuiltin()) =>
  petStore.then((opened) =>
    startGateway({
      petStore: opened,
      persistedDocuments: { mode: 'allow', manifest: new Map() },
    }),
  );

describe.each(Object.entries(formats))('%s', (_name, send) => {
  it('gets the same response on every use, compiled or not', async () => {
    await using service = await start();
    const sent = { query: 'query ($n: Int) { pets(limit: $n) { id } }', variables: { n: 2 } };
    for (let time = 0; time < 4; time++) {
      expect(await send(service.url, sent)).toBe('{"data":{"pets":[{"id":"1"},{"id":"2"}]}}');
    }
  });

  it('can use any alias', async () => {
    await using service = await start();
    const query = '{ then: pets(limit: 1) { then: id constructor: name } }';
    for (let time = 0; time < 3; time++) {
      expect(await send(service.url, { query })).toBe(
        '{"data":{"then":[{"then":"1","constructor":"Biscuit"}]}}',
      );
    }
  });
});

describe('an int64', () => {
  it('keeps every digit of a variable default in a query, on both executors', async () => {
    const { petStore, calls } = recording(await openBuiltin());
    await using service = await start(Promise.resolve(petStore));
    // Introspection is never compiled.
    for (const other of ['', '__schema { queryType { name } }']) {
      const query = `query ($id: ID! = 9223372036854775807) { pet(id: $id) { id } ${other} }`;
      for (let time = 0; time < 4; time++) {
        expect(await post(service.url, { query })).toContain('"code":"NOT_FOUND"');
      }
      expect(new Set(calls)).toEqual(new Set(['getPet "9223372036854775807"']));
    }
  });
});
