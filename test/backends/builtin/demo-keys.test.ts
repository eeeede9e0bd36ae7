import { describe, expect, it } from 'vitest';
import { demoKeys, openPetStore } from '../../../src/petstore/open.ts';
import { owning } from '../../support/dispose.ts';
import { createFolder } from '../../support/folder.ts';
import {
  apiKey,
  callWith,
  openBuiltin,
  openGateway,
  openKeys,
  startGateway,
} from '../../support/gateway.ts';
import { postGraphQL } from '../../support/graphql.ts';
import { quiet } from '../../support/log.ts';
import { openRest } from '../../support/rest-gateway.ts';

/** Opens a demo, and a gateway in front of its REST interface whose calls have this time limit. */
async function openBoth(timeoutMs = 30_000) {
  // The demo never responds to `demo-timeout` first.
  const builtin = await openBuiltin(':memory:', { timeoutMs: 60_000 });
  const demo = await startGateway({ petStore: builtin });
  const proxy = await openGateway({ petStore: openRest(demo.url, { timeoutMs }) });
  return { demo, proxy, ...owning(proxy, demo) };
}

type Gateway = Parameters<typeof postGraphQL>[0];

async function errorOf(gateway: Gateway, document: string, key: string) {
  const { errors = [] } = await postGraphQL(gateway, document, {}, bearer(key));
  const [error] = errors;
  if (error === undefined) return undefined;
  const { requestId, ...extensions } = error.extensions;
  return { message: error.message, ...extensions };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const read = '{ pet(id: 1) { name } }';
const write = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';

const refused = {
  'demo-unauthenticated': 401,
  'demo-forbidden': 403,
  'demo-not-found': 404,
  'demo-conflict': 409,
};

describe('the demo keys', () => {
  const folder = createFolder();

  it('fail in the same way in GraphQL and through the REST interface', async () => {
    await using opened = await openBoth();
    const expected: Record<string, { readonly code: string; readonly [name: string]: unknown }> = {
      'demo-unauthenticated': { code: 'UNAUTHENTICATED', status: 401, outcome: 'NOT_DONE' },
      'demo-forbidden': { code: 'FORBIDDEN', status: 403, outcome: 'NOT_DONE' },
      'demo-not-found': { code: 'NOT_FOUND', status: 404, outcome: 'NOT_DONE' },
      'demo-conflict': { code: 'CONFLICT', status: 409, outcome: 'NOT_DONE' },
      'demo-rate-limited': { code: 'RATE_LIMITED', retryAfterMs: 2000, outcome: 'NOT_DONE' },
      'demo-unavailable': { code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' },
      'demo-error': { code: 'UPSTREAM_ERROR', status: 500, outcome: 'UNKNOWN' },
      'demo-invalid': { code: 'UPSTREAM_INVALID_RESPONSE', outcome: 'DONE' },
      'demo-lost-write': { code: 'UPSTREAM_UNAVAILABLE', outcome: 'UNKNOWN' },
    };
    const others = ['demo-empty', 'demo-slow', 'demo-slow-orders', 'demo-timeout', 'demo-flaky'];
    expect([...demoKeys.keys()].sort()).toEqual([...Object.keys(expected), ...others].sort());
    const { demo, proxy } = opened;
    await Promise.all(
      Object.entries(expected).map(async ([key, error]) => {
        const direct = await errorOf(demo.gateway, write, key);
        expect(direct, key).toMatchObject(error);
        expect(await errorOf(proxy.gateway, write, key)).toEqual(direct);
        const ofRead = await errorOf(demo.gateway, read, key);
        expect(await errorOf(proxy.gateway, read, key)).toEqual(ofRead);
        if (key === 'demo-lost-write') expect(ofRead).toBeUndefined();
        else expect(ofRead, key).toHaveProperty('code', error.code);
      }),
    );
  });

  it('time out in the same way in GraphQL and through the REST interface', async () => {
    await using impatient = await startGateway({
      petStore: await openBuiltin(':memory:', { timeoutMs: 100 }),
    });
    await using opened = await openBoth(2000);
    const late = { code: 'UPSTREAM_TIMEOUT' };
    for (const [document, error] of [
      [write, { ...late, outcome: 'UNKNOWN' }],
      [read, late],
    ] as const) {
      const direct = await errorOf(impatient.gateway, document, 'demo-timeout');
      expect(direct).toMatchObject(error);
      expect(await errorOf(opened.proxy.gateway, document, 'demo-timeout')).toEqual(direct);
    }
  });

  it('carry out lost writes and those whose response is invalid, and no others', async () => {
    await using opened = await openBoth();
    const { demo, proxy } = opened;
    for (const { gateway } of [demo, proxy]) {
      for (const key of ['demo-lost-write', 'demo-invalid', 'demo-unavailable', 'demo-error']) {
        await errorOf(gateway, write, key);
      }
    }
    const { data } = await postGraphQL(demo.gateway, '{ pets(limit: 100) { id } }');
    expect(data?.['pets']).toHaveLength(12 + 4);
  });

  it('respond to the repetition of a lost write with what it has stored', async () => {
    await using demo = await startGateway();
    for (const [key, outcome] of [
      ['demo-lost-write', 'UNKNOWN'],
      ['demo-invalid', 'DONE'],
    ] as const) {
      const headers = { ...bearer(key), 'idempotency-key': key };
      const lost = await postGraphQL(demo.gateway, write, {}, headers);
      expect(lost.errors).toMatchObject([{ extensions: { outcome } }]);
      const repeated = await postGraphQL(demo.gateway, write, {}, headers);
      expect(repeated.errors).toBeUndefined();
      expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    }
    const { data } = await postGraphQL(demo.gateway, '{ pets(limit: 100) { id } }');
    expect(data?.['pets']).toHaveLength(12 + 2);
  });

  it('have the status and headers of their error in the REST interface', async () => {
    await using demo = await startGateway({
      petStore: await openBuiltin(':memory:', { timeoutMs: 100 }),
    });
    for (const [key, status] of Object.entries(refused)) {
      const response = await fetch(`${demo.url}/v1/pets`, { headers: bearer(key) });
      const body = { status, message: expect.any(String), code: expect.stringMatching(/^demo_/) };
      expect([response.status, await response.json()]).toEqual([status, body]);
    }
    const limited = await fetch(`${demo.url}/v1/pets`, { headers: bearer('demo-rate-limited') });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '2']);
    const late = await fetch(`${demo.url}/v1/pets`, { headers: bearer('demo-timeout') });
    const message = 'The pet store did not respond in time.';
    expect(await late.json()).toEqual({ code: 'timeout', message, status: late.status });
    const failed = await fetch(`${demo.url}/v1/pets`, { headers: bearer('demo-error') });
    expect([failed.status, (await failed.json()).code]).toEqual([500, 'demo_upstream_error']);
    const invalid = await fetch(`${demo.url}/v1/store/orders`, { headers: bearer('demo-invalid') });
    expect(invalid.status).toBe(200);
    await expect(invalid.json()).rejects.toThrow(SyntaxError);
    const closed = fetch(`${demo.url}/v1/pets`, { headers: bearer('demo-unavailable') });
    await expect(closed).rejects.toThrow(TypeError);
    const { text } = await demo.metrics.scrape();
    expect(text).not.toMatch(/petstore_v1_\w+_seconds_count\{.*"listOrders",status="500"/);
    expect(text).toMatch(/petstore_v1_\w+_seconds_count\{.*"listPets",status="500"\} 1/);
    // Nothing of this is a fault of the gateway, and every request has ended.
    expect(demo.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(demo.lines.filter((line) => line.includes('GET /v1'))).toHaveLength(9);
  });

  it('find nothing with demo-empty, and write as the others do', async () => {
    await using opened = await openBoth();
    const query = '{ pets { id } sold: pets(status: sold) { id } orders pet(id: 1) { id } }';
    for (const { gateway } of [opened.demo, opened.proxy]) {
      const { data: written } = await postGraphQL(gateway, write, {}, bearer('demo-empty'));
      expect(written).toEqual({ addPet: { id: expect.any(String) } });
      const { data, errors } = await postGraphQL(gateway, query, {}, bearer('demo-empty'));
      expect(data).toEqual({ pets: [], sold: [], orders: [], pet: null });
      expect(errors).toMatchObject([
        { path: ['pet'], extensions: { status: 404, error: { code: 'pet_not_found' } } },
      ]);
    }
    const { data } = await postGraphQL(opened.demo.gateway, '{ pets(limit: 100) { id } }');
    expect(data?.['pets']).toHaveLength(12 + 2);
  });

  it('fail the first field of every second request with demo-flaky, whatever was sent before', async () => {
    await using demo = await startGateway();
    const send = async (document: string) => {
      const { errors = [] } = await postGraphQL(demo.gateway, document, {}, bearer('demo-flaky'));
      return errors.map(({ path, extensions }) => [path, extensions['code']]);
    };
    const three = '{ available: pets { id } sold: pets(status: sold) { id } orders }';
    const failed = [[['available'], 'UPSTREAM_UNAVAILABLE']];
    for (const expected of [[], failed, [], failed]) {
      expect(await send(three)).toEqual(expected);
      // Each operation has its own turn.
      expect(await send('{ orders }')).toEqual(
        expected.length > 0 ? [[['orders'], 'UPSTREAM_UNAVAILABLE']] : [],
      );
    }
  });

  it('succeed after two seconds with demo-slow and demo-slow-orders, unless the caller leaves', async () => {
    await using store = await openBuiltin();
    const start = performance.now();
    expect([...(await store.listPets(callWith('demo-slow'), {}))]).toHaveLength(12);
    expect(performance.now() - start).toBeGreaterThan(1990);
    const caller = callWith('demo-slow');
    const left = store.listPets(caller, {});
    caller.cancel();
    await expect(left).rejects.toThrow('The caller aborted the request.');
    const later = performance.now();
    expect([...(await store.listPets(callWith('demo-slow-orders'), {}))]).toHaveLength(12);
    expect(performance.now() - later).toBeLessThan(1990);
    await store.listOrders(callWith('demo-slow-orders'));
    expect(performance.now() - later).toBeGreaterThan(1990);
  });

  it('are accepted only in a demo, for the same file', async () => {
    const databaseUrl = `file:${folder}/demo.db`;
    await using demo = await openBuiltin(databaseUrl);
    expect([...(await demo.listPets(callWith(), {}))]).toHaveLength(12);
    const options = { databaseUrl, demoKey: undefined, timeoutMs: 10_000 };
    await using production = await openPetStore({ kind: 'builtin', ...options }, quiet, openKeys());
    for (const key of [apiKey, ...demoKeys.keys()]) {
      const call = production.listPets(callWith(key), {});
      await expect(call).rejects.toMatchObject({ body: { code: 'invalid_api_key' } });
    }
  });
});
