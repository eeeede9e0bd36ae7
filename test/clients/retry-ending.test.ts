import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sendJson, startUpstream } from '../support/upstream.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));

const busy = (retryAfterMs: number) => {
  const extensions = { code: 'OVERLOADED', outcome: 'NOT_DONE', retryAfterMs };
  return JSON.stringify({ errors: [{ message: 'Busy.', extensions }] });
};

/** Ends an operation while it waits for its second attempt. */
const endWithUrql = `
import { Client, createRequest, fetchExchange, makeOperation } from '@urql/core';
import { pipe, subscribe, tap } from 'wonka';
import { createRetryExchange } from './packages/client/src/urql.ts';

const [, url, kind] = process.argv;
const afterResponse = ({ forward }) => (operations) => pipe(forward(operations), tap(() => setImmediate(end)));
const client = new Client({
  url, preferGetMethod: false,
  exchanges: [createRetryExchange({ maxDelayMs: 60_000 }), afterResponse, fetchExchange],
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
