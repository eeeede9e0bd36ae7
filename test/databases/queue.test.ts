import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { hashOf } from '../../src/backends/builtin/stored-api-keys.ts';
import { openAdministration, openPetStore } from '../../src/petstore/open.ts';
import { startAddress } from '../support/address.ts';
import { createPostgresDatabase } from '../support/databases.ts';
import { owning } from '../support/dispose.ts';
import { callWith, openKeys, startGateway } from '../support/gateway.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { openTelemetry, quiet } from '../support/log.ts';
import { valuesOf } from '../support/metrics.ts';

/** How long each piece takes from PostgreSQL to the gateway, in milliseconds. */
const delayMs = 5;

/** Forwards bytes to PostgreSQL and, after a delay, back. */
async function startSlowNetwork(databaseUrl: string) {
  const sent: string[] = [];
  const delayed = new WeakMap<Socket, Promise<unknown>>();
  let released = Promise.resolve();
  let isHeld = (_: string) => false;
  const address = await startAddress(databaseUrl);
  address.send = (bytes, server, client) => {
    const text = bytes.toString('latin1');
    if (/select|insert|update/.test(text)) sent.push(text);
    if (isHeld(text)) delayed.set(client, Promise.all([delayed.get(client), released]));
    server.write(bytes);
  };
  address.pass = (bytes, client) => {
    const turn = Promise.all([delayed.get(client), wait(delayMs)]);
    delayed.set(
      client,
      turn.then(() => client.write(bytes)),
    );
  };
  return {
    ...address,
    databaseUrl: address.url,
    /** How many statements with this text PostgreSQL has received. */
    count: (text: string) => sent.filter((statement) => statement.includes(text)).length,
    /** Holds the responses to statements with one of these texts. Returns what releases them. */
    hold(...texts: readonly string[]): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      released = promise;
      isHeld = (statement) => texts.some((text) => statement.includes(text));
      return resolve;
    },
  };
}

/** Opens a store with two API keys, at the other end of a slow network. */
async function open({ poolSize = 10, timeoutMs = 60_000 } = {}) {
  const url = await createPostgresDatabase();
  const administration = await openAdministration(url, quiet.log);
  await administration.keys.createAccount('acme');
  const create = async () => (await administration.keys.create('acme')).key;
  const created: [string, string] = [await create(), await create()];
  const network = await startSlowNetwork(url);
  const telemetry = openTelemetry();
  const { databaseUrl } = network;
  const options = { databaseUrl, demoKey: undefined, timeoutMs, poolSize };
  const keys = openKeys();
  const opened = await openPetStore({ kind: 'builtin', ...options }, telemetry, keys);
  const petStore = { ...opened, keys };
  return {
    petStore,
    network,
    created,
    list: (key: string, limit = 20) => petStore.listPets(callWith(key), { limit }),
    /** Holds a connection by the look-up of the first key. */
    async occupy() {
      const [first, other] = created;
      const release = network.hold(lookUpOf(first));
      const hanging = petStore.listPets(callWith(first), {});
      await vi.waitFor(() => expect(network.count(lookUpOf(first))).toBe(1));
      return { other, hanging, release };
    },
    /** How many queries have a place, and how many wait for one. */
    async queries() {
      const used = await valuesOf(telemetry.metrics, 'petstore_limit_used', 'limit');
      const waiting = await valuesOf(telemetry.metrics, 'petstore_database_waiting_queries');
      return [used['database_calls'] ?? 0, waiting[''] ?? 0];
    },
    ...owning(opened, network, administration),
  };
}

/** The statement of a list of this many, and the look-up of a key. */
const listOf = (limit: number) => `limit ${limit}`;
const lookUpOf = (key: string) => hashOf(key);

const field = (_: unknown, index: number) => `a${index}: pets(limit: ${index + 1}) { id }`;
const many = `{ ${Array.from({ length: 20 }, field).join(' ')} }`;

describe('the queue before PostgreSQL', () => {
  it('serves an accepted key beside 40 connections of unknown keys, which have half of the places', async () => {
    await using opened = await open();
    const { network, petStore, queries } = opened;
    const [honest] = opened.created;
    await using gateway = await startGateway({ petStore });
    const send = async (key: string, query: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(graphqlRequest(gateway.url, { query }, headers))).json();
    };
    const unknown = Array.from({ length: 40 }, (_, index) => `unknown-${index}`);
    await send(honest, '{ pets { id } }');
    const release = network.hold(...unknown.map(lookUpOf));
    const refused = Promise.all(unknown.map((key) => send(key, many)));
    await vi.waitFor(async () => expect(await queries()).toEqual([5, 35]));
    for (let count = 0; count < 3; count++) {
      expect(await send(honest, many)).not.toHaveProperty('errors');
    }
    expect(await queries()).toEqual([5, 35]);
    release();
    for (const { errors } of await refused) expect(errors).toHaveLength(20);
    expect(unknown.map((key) => network.count(lookUpOf(key)))).toEqual(unknown.map(() => 1));
  });

  it('looks up one unknown key once in a second, however many connections send it', async () => {
    await using opened = await open();
    const { network, petStore } = opened;
    await using gateway = await startGateway({ petStore });
    const headers = { authorization: 'Bearer unknown' };
    const send = () => fetch(graphqlRequest(gateway.url, { query: many }, headers));
    const start = performance.now();
    const statuses = (await Promise.all(Array.from({ length: 40 }, send))).map((one) => one.status);
    expect(statuses).toEqual(Array(40).fill(200));
    const seconds = Math.ceil((performance.now() - start) / 1000);
    expect(network.count(lookUpOf('unknown'))).toBeLessThanOrEqual(seconds);
  });

  it('leaves a quarter of the places to other accepted keys', async () => {
    await using opened = await open();
    const { network, list, queries } = opened;
    const [greedy, other] = opened.created;
    await Promise.all([list(greedy), list(other)]);
    const release = network.hold(listOf(50));
    const all = Promise.all(Array.from({ length: 12 }, () => list(greedy, 50)));
    await vi.waitFor(() => expect(network.count(listOf(50))).toBe(8));
    for (let count = 0; count < 3; count++) expect(await list(other)).toEqual([]);
    expect(await queries()).toEqual([8, 4]);
    release();
    await all;
    expect(network.count(listOf(50))).toBe(12);
    expect(await queries()).toEqual([0, 0]);
  });

  it('ends the wait of a call whose deadline passes or whose client leaves, with nothing sent', async () => {
    await using opened = await open({ poolSize: 1, timeoutMs: 300 });
    const { network, petStore, queries } = opened;
    const { other, hanging, release } = await opened.occupy();
    const left = callWith(other);
    const rex = { name: 'Rex', categoryId: '1' };
    const leaving = petStore.createPet(left, rex);
    await vi.waitFor(async () => expect(await queries()).toEqual([1, 1]));
    left.cancel();
    await expect(leaving).rejects.toMatchObject({ name: 'CancelledError' });
    await expect(petStore.createPet(callWith(other), rex)).rejects.toMatchObject({
      name: 'BackendTimeoutError',
      writeOutcome: 'NOT_DONE',
    });
    expect(await queries()).toEqual([1, 0]);
    release();
    expect(await hanging).toEqual([]);
    expect(network.count(lookUpOf(other))).toBe(0);
  });

  it('ends all calls that wait for the look-up of a key at their deadline, not one after the other', async () => {
    await using opened = await open({ poolSize: 1, timeoutMs: 300 });
    const { petStore } = opened;
    const { other, hanging, release } = await opened.occupy();
    const caller = callWith(other);
    // Each call that waits, and each look-up that does.
    const waits = vi.spyOn(caller, 'whenCancelled');
    const lists = Array.from({ length: 500 }, () => petStore.listPets(caller, {}));
    const late = { name: 'BackendTimeoutError' };
    await Promise.all(lists.map((list) => expect(list).rejects.toMatchObject(late)));
    expect(waits.mock.calls.length).toBeLessThan(750);
    release();
    await hanging;
  });

  it('looks a key up for the callers that wait when the first of them leaves', async () => {
    await using opened = await open({ poolSize: 1 });
    const { network, petStore, queries } = opened;
    const { other, hanging, release } = await opened.occupy();
    const callers = Array.from({ length: 3 }, () => callWith(other));
    const lists = callers.map((caller) => petStore.listPets(caller, {}));
    const left = expect(lists[0]).rejects.toMatchObject({ name: 'CancelledError' });
    await vi.waitFor(async () => expect(await queries()).toEqual([1, 1]));
    callers[0]?.cancel();
    await left;
    await vi.waitFor(async () => expect(await queries()).toEqual([1, 1]));
    release();
    expect(await Promise.all([hanging, ...lists.slice(1)])).toEqual([[], [], []]);
    expect(network.count(lookUpOf(other))).toBe(1);
  });
});
