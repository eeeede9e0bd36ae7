import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Caller } from '../../../src/contract/caller.ts';
import { BackendTimeoutError, CancelledError } from '../../../src/contract/error.ts';
import { JsonText } from '../../../src/contract/json.ts';
import type { ListPetsQuery } from '../../../src/petstore/operations.ts';
import { owning } from '../../support/dispose.ts';
import { encodeResponse, startFaultServer } from '../../support/fault-server.ts';
import { callWith } from '../../support/gateway.ts';
import { openTelemetry } from '../../support/log.ts';
import { valuesOf } from '../../support/metrics.ts';
import { openRest } from '../../support/rest-gateway.ts';

const rex = '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}';

/** Starts a service whose reads wait until the test responds, and opens a store that shares reads. */
async function startHolding() {
  const held: { socket: Socket; isClosed: Promise<void> }[] = [];
  const server = await startFaultServer((socket, _attempt, request) => {
    const closed = Promise.withResolvers<void>();
    socket.on('close', () => closed.resolve());
    if (request.startsWith('GET')) held.push({ socket, isClosed: closed.promise });
    else socket.write(encodeResponse(request.includes('Bearer bad') ? '401 No' : '201 Ok', rex));
  });
  const telemetry = openTelemetry();
  const petStore = openRest(server.url, { shareReads: true }, telemetry);
  return {
    held,
    list: async (caller = callWith(), query: ListPetsQuery = {}) =>
      Array.from(await petStore.listPets(caller, query), ({ name }) => name),
    send: () => petStore.send(callWith(), { operation: 'GET /pets', method: 'GET', path: '/pets' }),
    add: (key?: string) => petStore.createPet(callWith(key), { name: 'Rex', categoryId: '1' }),
    /** Waits until this many reads have arrived. */
    holds: (count: number) => vi.waitFor(() => expect(held).toHaveLength(count)),
    respond: (index: number, response = encodeResponse('200 OK', `[${rex}]`)) =>
      held[index]?.socket.write(response),
    /** The number of reads that joined another. */
    joined: () => valuesOf(telemetry.metrics, 'petstore_coalesced_reads_total', 'operation'),
    ...owning(server, petStore),
  };
}

describe('equal reads in flight', () => {
  it('share one call, and each gets the complete result', async () => {
    await using rest = await startHolding();
    const lists = [1, 2, 3].map(() => rest.list(callWith(), { limit: 2 }));
    await rest.holds(1);
    rest.respond(0);
    expect(await Promise.all(lists)).toEqual([['Rex'], ['Rex'], ['Rex']]);
    expect(await rest.joined()).toEqual({ listPets: 2 });
  });

  const key = `${'a'.repeat(1000)}Ab`;
  it.each<[string, string, ListPetsQuery, Caller['forwarded']?]>([
    ['another key', 'b', { limit: 2 }],
    ['a key that ends alike', `b${key}`, { limit: 2 }],
    ['a key that begins alike', `${key.slice(0, -1)}c`, { limit: 2 }],
    ['a key of the same hash', `${'a'.repeat(1000)}BA`, { limit: 2 }],
    ['another limit', key, { limit: 3 }],
    ['another status', key, { limit: 2, status: 'sold' }],
    ['no limit', key, {}],
    ['other forwarded headers', key, { limit: 2 }, { 'accept-language': 'fr' }],
  ])('are not shared with %s', async (_, otherKey, query, forwarded) => {
    await using rest = await startHolding();
    const other = Object.assign(callWith(otherKey), { forwarded });
    const lists = [rest.list(callWith(key), { limit: 2 }), rest.list(other, query)];
    await rest.holds(2);
    for (const index of [0, 1]) rest.respond(index);
    await Promise.all(lists);
    expect(await rest.joined()).toEqual({});
  });

  it('are not shared with another operation of the same path, whose result is another one', async () => {
    await using rest = await startHolding();
    const results = [rest.list(), rest.send()];
    await rest.holds(2);
    for (const index of [0, 1]) rest.respond(index);
    expect(await Promise.all(results)).toEqual([['Rex'], new JsonText(`[${rex}]`)]);
  });

  it.each([
    ['has ended', 'good'],
    ['has failed, because its outcome may be unknown', 'bad'],
  ])('are not joined by a read that starts after a write %s', async (_, writer) => {
    await using rest = await startHolding();
    const lists = [rest.list()];
    const write = rest.add(writer).catch(() => {});
    lists.push(rest.list());
    await write;
    lists.push(rest.list());
    await rest.holds(2);
    for (const index of [0, 1]) rest.respond(index);
    await Promise.all(lists);
    expect(await rest.joined()).toEqual({ listPets: 1 });
  });

  it('are sent again for the caller that waits longest, beyond the deadline of another', async () => {
    await using rest = await startHolding();
    const early = callWith();
    const lists = [rest.list(), rest.list(early)];
    early.setDeadline(900);
    await rest.holds(1);
    rest.respond(0, encodeResponse('503 Busy', '', ['Retry-After: 1']));
    await expect(lists[1]).rejects.toThrow(BackendTimeoutError);
    await rest.holds(2);
    rest.respond(1);
    expect(await lists[0]).toEqual(['Rex']);
    expect(await rest.joined()).toEqual({ listPets: 1 });
  });

  it('are not joined after 100 ms, so that a hanging call affects few callers', async () => {
    await using rest = await startHolding();
    const start = performance.now();
    const clock = vi.spyOn(performance, 'now');
    onTestFinished(() => clock.mockRestore());
    const lists = [0, 99, 100, 150].map((ms) => {
      clock.mockReturnValue(start + ms);
      return rest.list();
    });
    clock.mockRestore();
    await rest.holds(2);
    expect(await rest.joined()).toEqual({ listPets: 2 });
    rest.respond(1);
    expect(await Promise.all(lists.slice(2))).toEqual([['Rex'], ['Rex']]);
    rest.respond(0);
    await Promise.all(lists);
  });

  it('go on while one of their callers waits, and end when the last one leaves', async () => {
    await using rest = await startHolding();
    const clients = [0, 1].map(() => new AbortController());
    const left = clients.map(({ signal }) =>
      expect(rest.list(callWith(undefined, signal))).rejects.toBeInstanceOf(CancelledError),
    );
    const stays = rest.list();
    await expect(rest.list(callWith(undefined, AbortSignal.abort()))).rejects.toThrow();
    await rest.holds(1);
    for (const client of clients) client.abort();
    await Promise.all(left);
    rest.respond(0);
    expect(await stays).toEqual(['Rex']);
    expect(await rest.joined()).toEqual({ listPets: 2 });

    const last = new AbortController();
    const ended = rest.list(callWith(undefined, last.signal));
    await rest.holds(2);
    last.abort();
    await expect(ended).rejects.toBeInstanceOf(CancelledError);
    await rest.held[1]?.isClosed;
    // An ended call is not joined.
    const next = rest.list();
    await rest.holds(3);
    rest.respond(2);
    await next;
  });

  it('fail together', async () => {
    await using rest = await startHolding();
    const lists = [rest.list(), rest.list()].map((list) => expect(list).rejects.toThrow('no such'));
    await rest.holds(1);
    rest.respond(0, encodeResponse('404 No', '{"code":"none","message":"no such","status":404}'));
    await Promise.all(lists);
  });
});
