import { execFile } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { describe, expect, it } from 'vitest';
import {
  AddPetDocument,
  createRetryFetch,
  ListPetsDocument,
} from '../../../packages/client/src/index.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../..', import.meta.url));

const busy = (retryAfterMs: number) => {
  const extensions = { code: 'OVERLOADED', outcome: 'NOT_DONE', retryAfterMs };
  return JSON.stringify({ errors: [{ message: 'Busy.', extensions }] });
};

/** Ends an operation while it waits for its second attempt. */
const endWithUrql = `
import { Client, createRequest, fetchExchange, makeOperation } from '@urql/core';
import { pipe, subscribe } from 'wonka';
import { createRetryFetch } from './packages/client/src/index.ts';

const [, url, kind] = process.argv;
const afterResponse = async (...sent) => {
  const response = await fetch(...sent);
  response.clone().text().then(() => setImmediate(end));
  return response;
};
const client = new Client({
  url, preferGetMethod: false,
  fetch: createRetryFetch({ maxDelayMs: 60_000 }, afterResponse),
  exchanges: [fetchExchange],
});
const operation = client.createRequestOperation(kind, createRequest(kind + ' { a }', {}));
const { unsubscribe } = pipe(client.executeRequestOperation(operation), subscribe(() => {}));
const end = () =>
  kind === 'query' ? unsubscribe() : client.reexecuteOperation(makeOperation('teardown', operation));
`;

describe('the delay before urql repeats', () => {
  it.each(['query', 'mutation'])('ends, and its timer, when a %s is torn down', async (kind) => {
    await using gateway = await startUpstream((_, response) => sendJson(response, 503, busy(9000)));
    const script = ['--input-type=module', '--eval', endWithUrql, gateway.url, kind];
    // Exits before the second attempt, so no timer is left.
    await run(process.execPath, script, { cwd: repository });
    expect(gateway.seen).toHaveLength(1);
  });
});

const left = new Error('The caller has left.');
const variables = { input: { name: 'Rex', categoryId: '1' } };

/** Creates a client that calls `responded` after each response. */
function createApollo(uri: string, responded: () => void = () => {}) {
  const observed: typeof fetch = async (...sent) => {
    const response = await fetch(...sent);
    response.clone().text().then(responded);
    return response;
  };
  const link = new HttpLink({ uri, fetch: createRetryFetch({ baseDelayMs: 1 }, observed) });
  return new ApolloClient({ link, cache: new InMemoryCache() });
}

describe('an aborted signal', () => {
  it.each(['query', 'mutation'])('ends the delay of Apollo Client before a %s', async (kind) => {
    await using gateway = await startUpstream((_, response) => sendJson(response, 200, busy(9000)));
    const caller = new AbortController();
    const client = createApollo(gateway.url, () => setImmediate().then(() => caller.abort(left)));
    const context = { fetchOptions: { signal: caller.signal } };
    const sent =
      kind === 'query'
        ? client.query({ query: ListPetsDocument, context })
        : client.mutate({ mutation: AddPetDocument, variables, context });
    await expect(sent).rejects.toBe(left);
    expect(gateway.seen).toHaveLength(1);
  });

  it.each<[string, (url: string, signal: AbortSignal) => Promise<unknown>]>([
    [
      'Apollo Client',
      (url, signal) =>
        createApollo(url).query({ query: ListPetsDocument, context: { fetchOptions: { signal } } }),
    ],
    ['fetch', (url, signal) => createRetryFetch({ baseDelayMs: 1 })(url, { signal })],
  ])('ends the request in flight of %s, whatever its reason', async (_, send) => {
    const caller = new AbortController();
    await using gateway = await startUpstream(() => caller.abort(left));
    await expect(send(gateway.url, caller.signal)).rejects.toBe(left);
    expect(gateway.seen).toHaveLength(1);
  });

  it('ends the delay of fetch, whatever sends the requests', async () => {
    await using gateway = await startUpstream((_, response) =>
      sendJson(response, 200, busy(60_000)),
    );
    const caller = new AbortController();
    let sent = 0;
    const send = createRetryFetch({ maxDelayMs: 90_000 }, async (url) => {
      sent++;
      const response = await fetch(url);
      response
        .clone()
        .text()
        .then(() => setImmediate())
        .then(() => caller.abort(left));
      return response;
    });
    await expect(send(gateway.url, { signal: caller.signal })).rejects.toBe(left);
    expect(sent).toBe(1);
  });
});
