import { describe, expect, it } from 'vitest';
import { ErrorResponse } from '../../src/contract/error.ts';
import type { KeyedCaller } from '../../src/keys/api-key.ts';
import { ApiKeys } from '../../src/keys/api-keys.ts';
import { openBuiltin, openGateway, type TestOptions } from '../support/gateway.ts';
import { postGraphQL } from '../support/graphql.ts';
import { startRestGateway } from '../support/rest-gateway.ts';
import { sendJson } from '../support/upstream.ts';

/** As long as tokens with many claims. */
const long = 'eyJhbGciOiJSUzI1NiJ9'.repeat(50);

/** Creates keys that differ only at their start, or at their end. */
const kinds = {
  end: (name: string | number) => `${name}-${long}`,
  begin: (name: string | number) => `${long}-${name}`,
} as const;

const good = 'good-0123456789abcdef';

type Service = Pick<Awaited<ReturnType<typeof openGateway>>, 'gateway'>;

/** Sends a query with an API key. Returns the code of its error, if it has one. */
async function send({ gateway }: Service, key: string, query = '{ pets { id } }') {
  const { errors } = await postGraphQL(gateway, query, {}, { authorization: `Bearer ${key}` });
  return errors?.[0]?.extensions['code'];
}

/** Opens a gateway whose backend accepts only this key, which has been used. */
async function openWithKey(accepted: string, options: TestOptions) {
  const builtin = await openBuiltin();
  const listPets = async ({ key, authorization }: KeyedCaller) => {
    if (authorization !== `Bearer ${accepted}`) throw new ErrorResponse(401, 'Unknown.');
    builtin.keys.accept(key);
    return [];
  };
  const opened = await openGateway({ petStore: { ...builtin, listPets }, ...options });
  expect(await send(opened, accepted)).toBeUndefined();
  return opened;
}

describe.each(Object.entries(kinds))('long API keys that %s alike', (_, keyOf) => {
  it('are accepted, and have rates, each by itself', async () => {
    const accepted = keyOf('good');
    await using opened = await openWithKey(accepted, { rateLimitPerKey: 20 });
    for (let count = 0; count < 30; count++) {
      expect(await send(opened, keyOf('bad'))).not.toBeUndefined();
    }
    expect(opened.keys.find(`Bearer ${keyOf('bad')}`).isAccepted).toBe(false);
    for (let count = 0; count < 19; count++) expect(await send(opened, accepted)).toBeUndefined();
  });

  it('have limits of their own on requests in flight, 400 of them at once', async () => {
    const { promise: isFull, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    const listPets = async () => {
      if (++calls === 400) resolve();
      await isFull;
      return [];
    };
    const petStore = { ...(await openBuiltin()), listPets };
    await using opened = await openGateway({ petStore, maxRequestsInFlightPerKey: 1 });
    const keys = Array.from({ length: 400 }, (_, index) => keyOf(index));
    // The first that ends is refused, or the last that begins.
    const codes = await Promise.all(keys.map((key) => send(opened, key).finally(resolve)));
    expect(codes).toEqual(keys.map(() => undefined));
  });
});

describe('keys that the service does not accept', () => {
  it('leave an accepted key its responses, however many calls they make', async () => {
    const held: (() => void)[] = [];
    let isOver = false;
    await using service = await startRestGateway(({ headers }, response) => {
      if (headers.authorization?.endsWith(good)) sendJson(response, 200, '[]');
      else if (isOver) sendJson(response, 401, '{}');
      else held.push(() => sendJson(response, 401, '{}'));
    });
    expect(await send(service, good)).toBeUndefined();
    const field = (_: unknown, index: number) => `a${index}: pets(limit: ${index + 1}) { id }`;
    const many = `{ ${Array.from({ length: 20 }, field).join(' ')} }`;
    const guess = (_: unknown, index: number) => send(service, `guess-${index}`, many);
    const guesses = Array.from({ length: 120 }, guess);
    for (let count = 0; count < 20; count++) {
      expect(await send(service, good, many)).toBeUndefined();
    }
    expect(held.length).toBeGreaterThan(0);
    isOver = true;
    for (const respond of held) respond();
    await Promise.all(guesses);
  });

  it('are forgotten beyond 1,000, and replace no accepted ones', () => {
    const keys = new ApiKeys();
    const accepted = keys.find('Bearer accepted');
    keys.accept(accepted);
    const active = keys.find('Bearer active');
    active.requests++;
    for (let index = 0; index < 10_000; index++) keys.find(`Bearer ${index}`);
    expect(keys.count(() => true)).toBeLessThanOrEqual(1003);
    expect(keys.find('Bearer accepted')).toBe(accepted);
    expect(keys.find('Bearer active')).toBe(active);
  });

  it('are forgotten when they are no longer active, however many were', () => {
    const keys = new ApiKeys();
    const all = Array.from({ length: 5000 }, (_, index) => {
      const key = keys.find(`Bearer a${index}`);
      key.requests++;
      return key;
    });
    for (let index = 0; index < 1000; index++) keys.find(`Bearer b${index}`);
    expect(keys.count((key) => key.isActive)).toBe(5000);
    for (const key of all) key.requests--;
    for (let index = 0; index < 1001; index++) keys.find(`Bearer c${index}`);
    expect(keys.count(() => true)).toBeLessThanOrEqual(1003);
  });
});

describe('accepted keys', () => {
  it('count as never accepted once they are refused, with what they use', () => {
    const keys = new ApiKeys();
    const limit = keys.openLimit('places', { total: 4, perKey: 4, unaccepted: 2 });
    const key = keys.find('Bearer revoked');
    keys.accept(key);
    for (let count = 0; count < 3; count++) expect(limit.take(key)).toBeUndefined();
    keys.refuse(key);
    keys.refuse(key);
    const state = [key.isAccepted, limit.usedByUnaccepted, limit.take(key)];
    expect(state).toEqual([false, 3, 'unknown']);
    limit.release(key, 3);
    expect(limit.usedByUnaccepted).toBe(0);
    expect(keys.find('Bearer revoked')).toBe(key);
  });

  it('replace no others when one of them is refused and accepted again in turn', () => {
    const keys = new ApiKeys();
    const [other, one] = [keys.find('Bearer other'), keys.find('Bearer one')];
    keys.accept(other);
    for (let count = 0; count < 10_000; count++) {
      keys.accept(one);
      keys.refuse(one);
      keys.find(`Bearer ${count}`);
    }
    expect(keys.find('Bearer other')).toBe(other);
  });

  it('are remembered up to 9,000, and always the latest 4,500', () => {
    const keys = new ApiKeys();
    const accept = (key: number) => keys.accept(keys.find(`Bearer ${key}`));
    const isAccepted = (key: number) => keys.find(`Bearer ${key}`).isAccepted;
    for (let key = 1; key <= 9001; key++) accept(key);
    // Used again, so it counts as the latest.
    expect(isAccepted(4501)).toBe(true);
    for (let key = 9002; key <= 13_500; key++) accept(key);
    expect([4501, 4502, 9001].map(isAccepted)).toEqual([true, false, true]);
  });
});
