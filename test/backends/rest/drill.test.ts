import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { encodeResponse, startFaultServer } from '../../support/fault-server.ts';
import { startGateway } from '../../support/gateway.ts';
import { graphqlRequest } from '../../support/graphql.ts';
import { openTelemetry } from '../../support/log.ts';
import { valuesOf } from '../../support/metrics.ts';
import { openRest } from '../../support/rest-gateway.ts';

const operations = 500;
const keys = 20;
const workersPerKey = 2;

/** Returns random numbers from 0 to 1, the same for each seed (a linear congruential generator). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What the service received and did for one request id. */
interface LedgerEntry {
  readonly operation: string;
  requests: number;
  writes: number;
}

/** How the service answers: whether it carries out a write, and what it sends. */
interface Answer {
  readonly isDone: boolean;
  readonly send: (socket: Socket, success: Buffer) => void;
}

const status = (line: string, isDone = false, body = ''): Answer => ({
  isDone,
  send: (socket) => socket.write(encodeResponse(line, body)),
});
const reset = (socket: Socket) => socket.resetAndDestroy();
const cutOff = (socket: Socket) =>
  socket.write(encodeResponse('201 Created', '[{"id":', ['Content-Length: 500']), () =>
    reset(socket),
  );

const answers: readonly Answer[] = [
  ...['400 Bad Request', '401 Unauthorized', '404 Not Found'].map((line) => status(line)),
  ...['429 Too Many Requests', '500 Oops', '503 Busy'].map((line) => status(line)),
  ...['303 See Other', '500 Oops'].map((line) => status(line, true)),
  status('200 OK', true, '<html>'),
  status('201 Created', true, '{"id":"x"}'),
  { isDone: true, send: (socket) => socket.write('garbage\r\n\r\n') },
  { isDone: true, send: reset },
  { isDone: false, send: reset },
  { isDone: true, send: (socket) => socket.end() },
  { isDone: true, send: cutOff },
  { isDone: true, send: () => {} },
];

/** An operation of a client, and the response if the client waited for it. */
interface ClientResult {
  readonly id: string;
  readonly isWrite: boolean;
  readonly errors?: readonly { readonly extensions: Readonly<Record<string, unknown>> }[];
  readonly hasLeft: boolean;
}

interface CallRecord {
  readonly operation: string;
  readonly status: number | string;
}

/** Counts entries of a list by a name. */
function countBy<T>(list: readonly T[], nameOf: (entry: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of list) counts[nameOf(entry)] = (counts[nameOf(entry)] ?? 0) + 1;
  return counts;
}

/** The reasons of retries whose call was not sent before. */
const neverSent = ['noConnection', 'connectTimeout', 'connectionClosed'];

describe('a service that responds at random, and clients that disconnect at random', () => {
  it('leave metrics, log lines, outcomes and the ledger of the service in agreement', async () => {
    const random = createRandom(26);
    const ledger = new Map<string, LedgerEntry>();
    const leaving = new Map<string, AbortController>();
    await using server = await startFaultServer((socket, _attempt, request) => {
      const [, id = ''] = /x-request-id: (\S+)/.exec(request) ?? [];
      const isWrite = request.startsWith('POST');
      const operation = isWrite ? 'createPet' : 'listPets';
      const entry = ledger.get(id) ?? { operation, requests: 0, writes: 0 };
      ledger.set(id, entry);
      entry.requests++;
      leaving.get(id)?.abort();
      const pet = '{"id":1,"name":"Rex","categoryId":2}';
      const success = isWrite
        ? encodeResponse('201 Created', pet)
        : encodeResponse('200 OK', `[${pet}]`);
      const answer =
        random() < 0.6
          ? { isDone: true, send: () => socket.write(success) }
          : answers[Math.floor(random() * answers.length)];
      if (isWrite && answer?.isDone) entry.writes++;
      answer?.send(socket, success);
    });
    const telemetry = openTelemetry();
    const circuit = { breakAfterFailures: 8, halfOpenAfterMs: 5 };
    const limits = { maxConnections: 12, maxWaiting: 16, ...circuit };
    await using petStore = openRest(server.url, { timeoutMs: 2000, limits }, telemetry);
    const results: ClientResult[] = [];
    await using opened = await startGateway({ petStore });

    async function operate(id: string, key: string): Promise<void> {
      const isWrite = random() < 0.4;
      const query = isWrite
        ? 'mutation { addPet(input: { name: "Rex", categoryId: 2 }) { id } }'
        : `{ pets(limit: ${1 + Math.floor(random() * 100)}) { id } }`;
      const client = new AbortController();
      const leaves = random();
      // A client leaves while the service works; or, with a write, before it may be sent.
      if (leaves < 0.1) leaving.set(id, client);
      const headers = { authorization: `Bearer ${key}`, 'x-request-id': id };
      const response = fetch(graphqlRequest(opened.url, { query }, headers, client.signal)).then(
        (received) => received.json() as Promise<Pick<ClientResult, 'errors'>>,
      );
      if (isWrite && leaves > 0.9) setImmediate(() => client.abort());
      try {
        results.push({ id, isWrite, hasLeft: false, ...(await response) });
      } catch (error) {
        expect(error).toBe(client.signal.reason);
        results.push({ id, isWrite, hasLeft: true });
      }
    }

    let next = 0;
    const worker = async (key: string) => {
      while (next < operations) await operate(`op-${next++}`, key);
    };
    const all = Array.from({ length: keys * workersPerKey }, (_, index) =>
      worker(`key-${index % keys}`),
    );
    await Promise.all(all);
    // Closing waits for the requests whose clients have left, and so for their writes.
    await opened.close(10_000);

    const requests = opened.requests();
    const callsOf = new Map<string, readonly CallRecord[]>();
    const codesOf = new Map<string, string[]>();
    for (const { requestId, calls, codes } of requests) {
      callsOf.set(requestId, calls);
      codesOf.set(requestId, codes);
    }
    const calls = [...callsOf.values()].flat();
    const failures = telemetry.logged
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'REST call failed');

    // The outcomes that a busy machine does not change all occurred.
    expect(failures.map(({ outcome }) => outcome)).toEqual(
      expect.arrayContaining(['responded', 'lost', 'notSent']),
    );
    expect(results).toHaveLength(operations);

    // The metrics count the calls that the log lists.
    const { metrics } = telemetry;
    const counted = 'petstore_rest_call_duration_seconds_count';
    expect(await valuesOf(metrics, counted, 'operation', 'status')).toEqual(
      countBy(calls, ({ operation, status }) => `${operation} ${status}`),
    );

    // Each failed call has one line, with its request and operation; no other call has one.
    const isFailure = ({ status }: CallRecord) =>
      status !== 'cancelled' &&
      !(Number(status) < 300) &&
      !(Number(status) >= 400 && Number(status) < 500);
    expect(countBy(failures, ({ requestId, operation }) => `${requestId} ${operation}`)).toEqual(
      countBy(
        [...callsOf].flatMap(([id, list]) =>
          list.filter(isFailure).map(({ operation }) => `${id} ${operation}`),
        ),
        (name) => name,
      ),
    );

    // The service received each call that was sent once, and each repetition once. A read is
    // cancelled after it was received, and a write before it was sent.
    const unsent = new Set(
      failures.filter(({ outcome }) => outcome === 'notSent').map(({ requestId }) => requestId),
    );
    const wasSent = (id: string, { operation, status }: CallRecord) =>
      !unsent.has(id) && !(operation === 'createPet' && status === 'cancelled');
    const sent = [...callsOf].flatMap(([id, list]) => list.filter((call) => wasSent(id, call)));
    const retries = await valuesOf(metrics, 'petstore_rest_retries_total', 'after', 'operation');
    const received = countBy(
      [...ledger.values()].flatMap(({ operation, requests }) => Array(requests).fill(operation)),
      (operation) => operation,
    );
    const expected = countBy(sent, ({ operation }) => operation);
    for (const [labels, count] of Object.entries(retries)) {
      const [after = '', operation = ''] = labels.split(' ');
      if (!neverSent.includes(after)) expected[operation] = (expected[operation] ?? 0) + count;
    }
    expect(received).toEqual(expected);

    // The outcome that a client received is true for the ledger.
    for (const { id, isWrite, errors = [], hasLeft } of results) {
      const { requests: count = 0, writes = 0 } = ledger.get(id) ?? {};
      const codes = errors.map(({ extensions }) => extensions['code']);
      if (!hasLeft) expect(codesOf.get(id), id).toEqual(codes);
      if (!isWrite) continue;
      expect(count, id).toBeLessThanOrEqual(1);
      if (hasLeft) continue;
      const outcome = errors[0]?.extensions['outcome'];
      if (errors.length === 0 || outcome === 'DONE') expect(writes, id).toBe(1);
      else if (outcome === 'NOT_DONE') expect(writes, id).toBe(0);
      else expect(outcome, id).toBe('UNKNOWN');
      // Unknown means that it was sent.
      if (outcome === 'UNKNOWN') expect(count, id).toBe(1);
    }
    expect(await valuesOf(opened.metrics, 'petstore_graphql_errors_total', 'code')).toEqual(
      countBy([...codesOf.values()].flat(), (code) => code),
    );

    // Nothing is left in flight.
    expect(await valuesOf(metrics, 'petstore_limit_used', 'limit')).toEqual({});
  });
});
