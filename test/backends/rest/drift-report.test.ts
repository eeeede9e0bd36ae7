import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDriftReport } from '../../../src/backends/rest/drift-report.ts';
import type { Drift } from '../../../src/contract/drift.ts';
import { encodeResponse } from '../../support/fault-server.ts';
import { startRest } from '../../support/faulty-rest.ts';
import { callWith } from '../../support/gateway.ts';
import { openTelemetry } from '../../support/log.ts';
import { valuesOf } from '../../support/metrics.ts';

const rex = { id: 1, name: 'Rex', categoryId: 1 };

/** Starts a service that responds with this status and body to every call. */
const startService = (body: unknown, status = '200 OK') =>
  startRest((socket) => socket.write(encodeResponse(status, JSON.stringify(body))));

type Service = Awaited<ReturnType<typeof startService>>;

/** Returns what was counted, by operation, kind and field. */
const driftsIn = ({ metrics }: Pick<Service, 'metrics'>) =>
  valuesOf(metrics, 'petstore_contract_drift_total', 'operation', 'kind', 'field');

const logged = ({ lines }: Pick<Service, 'lines'>) =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => /differs from/.test(msg));

describe('a response that differs from the contract', () => {
  it('is counted by each unknown member, and tolerated', async () => {
    await using service = await startService([
      { ...rex, tags: [], owner: 'Ann' },
      { ...rex, tags: [] },
    ]);
    const pet = { ...rex, id: '1', categoryId: '1' };
    expect(await service.list()).toEqual([pet, pet]);
    await service.list('another-key');
    expect(await driftsIn(service)).toEqual({
      'listPets unknown_member tags': 2,
      'listPets unknown_member owner': 2,
    });
  });

  it.each([
    ['an id as text', [{ ...rex, id: '1' }], 'wrong_type id', '[0].id: expected an int64 number'],
    ['no id', [{ name: 'Rex', categoryId: 1 }], 'missing_member id', '[0].id: expected an int64'],
    ['an object for a list', {}, 'wrong_type body', 'body: expected an array, received object'],
  ])('is counted for %s, and fails as before', async (_, body, drift, message) => {
    await using service = await startService(body);
    await expect(service.list()).rejects.toThrow(message);
    expect(await driftsIn(service)).toEqual({ [`listPets ${drift}`]: 1 });
  });

  it('is counted for a 2xx status of another operation, and tolerated', async () => {
    await using list = await startService([rex], '206 Partial Content');
    expect(await list.list()).toHaveLength(1);
    expect(await driftsIn(list)).toEqual({ 'listPets status 206': 1 });
    await using service = await startService({ ...rex, isNew: true });
    const { petStore } = service;
    expect(await service.add()).toMatchObject({ id: '1' });
    expect(await petStore.getPet(callWith(), '1')).toMatchObject({ id: '1' });
    await petStore.listOrders(callWith());
    expect(await driftsIn(service)).toEqual({
      'createPet status 200': 1,
      'createPet unknown_member isNew': 1,
      'getPet unknown_member isNew': 1,
    });
  });

  it.each([
    ['application/json', {}],
    [undefined, {}],
    ['application/json; a="b\\", c"; d=e', {}],
    ['text/plain, application/json', { 'listPets header content-type': 1 }],
    ['', { 'listPets header content-type': 1 }],
    ['application/json\r\nContent-Type: application/json', { 'listPets header content-type': 1 }],
  ])('is counted for a Content-Type that is not one type, and tolerated: %j', async (type, drifts) => {
    const text = encodeResponse('200 OK', JSON.stringify([rex]), [`Content-Type: ${type}`]);
    const untyped = String(text).replace(/Content-Type: undefined\r\n/, '');
    await using service = await startRest((socket) => socket.write(untyped));
    expect(await service.list()).toHaveLength(1);
    expect(await driftsIn(service)).toEqual(drifts);
  });

  const sold = { ...rex, status: 'sold' };
  const many = (count: number) => Array.from({ length: count }, () => rex);
  const limit = { 'listPets ignored_limit limit': 1 };
  const filter = { 'listPets ignored_filter status': 1 };

  describe.each([undefined, 1])('with the indentation %s', (indentation) => {
    const start = (body: unknown) =>
      startRest((socket) =>
        socket.write(encodeResponse('200 OK', JSON.stringify(body, null, indentation))),
      );

    it.each([
      ['a limit', { limit: 2 }, many(2), {}],
      ['more than the limit', { limit: 2 }, many(3), limit],
      ['the default limit', {}, many(20), {}],
      ['more than the default limit', {}, many(21), limit],
      ['the maximum', { limit: 100 }, many(100), {}],
      ['a filter', { status: 'sold' }, [sold], {}],
      ['no pets', { limit: 1, status: 'sold' }, [], {}],
      ['another status', { status: 'sold' }, [sold, { ...rex, status: 'pending' }], filter],
      ['no status', { status: 'pending' }, [rex], filter],
      ['a null status', { status: 'sold' }, [sold, { ...rex, status: null }], filter],
      ['names like members', { limit: 1 }, [{ ...rex, name: "'id':{id:" }], {}],
      ['neither', { limit: 1, status: 'sold' }, many(2), { ...limit, ...filter }],
    ] as const)('is counted once for a list that ignores its query: %s', async (_, query, body, drifts) => {
      await using service = await start(body);
      expect([...(await service.petStore.listPets(callWith(), query))]).toHaveLength(body.length);
      expect(await driftsIn(service)).toEqual(drifts);
    });

    it('is counted for another pet than the one asked for', async () => {
      await using service = await start(rex);
      for (const id of ['1', '2']) await service.petStore.getPet(callWith(), id);
      expect(await driftsIn(service)).toEqual({ 'getPet other_id id': 1 });
      await using untyped = await start({ ...rex, id: '1' });
      await expect(untyped.petStore.getPet(callWith(), '2')).rejects.toThrow('id: expected');
      expect(await driftsIn(untyped)).toEqual({ 'getPet wrong_type id': 1 });
    });
  });

  it('is an invalid response if a list has more than 100 pets', async () => {
    await using service = await startService(many(101));
    await expect(service.list()).rejects.toThrow('expected at most 100 pets');
    expect(await driftsIn(service)).toEqual(limit);
  });

  it('is not counted if it is in another format, or has null for no status', async () => {
    const many = [rex, { ...rex, status: null }, { ...rex, id: -1, status: 'sold' }];
    await using service = await startRest((socket, attempt) =>
      socket.write(encodeResponse('200 OK', JSON.stringify(many, null, attempt))),
    );
    for (const _ of [1, 2]) await service.list();
    expect([await driftsIn(service), logged(service)]).toEqual([{}, []]);
  });

  it('gets labels for twenty short unknown members, none of which contains the key', async () => {
    const key = 'faults-secret-key';
    const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const members = [`x-${key}`, 'x'.repeat(65), 'line\nbreak', ...names];
    const all = Object.fromEntries(members.map((name) => [name, 1]));
    await using service = await startService([{ ...all, ...rex }]);
    await service.list(key);
    const drifts = await driftsIn(service);
    expect(Object.keys(drifts)).toHaveLength(21);
    expect(drifts).toMatchObject({
      'listPets unknown_member x-[API key]': 1,
      'listPets unknown_member other': 13,
    });
    expect(JSON.stringify(drifts)).not.toMatch(/xx|break|secret/);
  });

  it('counts at most fifty differences of one response', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`m${index}`, 1]));
    await using service = await startService([{ ...many, ...rex, status: 'lost' }]);
    await service.list();
    const drifts = await driftsIn(service);
    expect(Object.values(drifts).reduce((sum, count) => sum + count)).toBe(50);
    expect(drifts['listPets invalid_value status']).toBe(1);
  });
});

describe('the log of differences', () => {
  afterEach(() => void vi.useRealTimers());

  it('has one line per kind and hour', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const telemetry = openTelemetry();
    const reportDrift = createDriftReport(telemetry);
    const report = (operation: string, ...drifts: readonly Drift[]) => {
      for (const drift of drifts) reportDrift(callWith(), operation, drift);
    };
    const tags = { kind: 'unknown_member', field: 'tags' } as const;
    const owner = { kind: 'unknown_member', field: 'owner' } as const;
    const lost = { kind: 'invalid_value', field: 'status' } as const;
    report('listPets', tags, owner);
    report('getPet', tags, lost);
    vi.advanceTimersByTime(59 * 60 * 1000);
    report('listPets', owner, lost);
    expect(logged(telemetry)).toEqual([
      expect.objectContaining({ level: 'warn', requestId: 'test', operation: 'listPets', ...tags }),
      expect.objectContaining({ operation: 'getPet', ...lost }),
    ]);
    vi.advanceTimersByTime(60 * 1000);
    report('listPets', owner);
    expect(logged(telemetry)).toHaveLength(3);
    expect(Object.keys(await driftsIn(telemetry))).toHaveLength(5);
  });
});
