import { describe, expect, it, vi } from 'vitest';
import { openBuiltin, openGateway, type TestOptions } from '../support/gateway.ts';

/** Opens a gateway whose backend is ready if this resolves. @returns a probe of `/readyz`. */
async function open(checkReady: () => Promise<void>, options: TestOptions = {}) {
  const petStore = { ...(await openBuiltin()), checkReady };
  const opened = await openGateway({ petStore, ...options });
  const probe = async () => {
    const response = await opened.gateway(new Request('http://gateway.test/readyz'));
    return `${response.status} ${await response.text()}`.trim();
  };
  const scrape = async () => (await opened.metrics.scrape()).text;
  return { probe, scrape, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

describe('/readyz', () => {
  it('is ready only while the database responds', async () => {
    const store = await openBuiltin();
    await using ready = await open(store.checkReady);
    expect(await ready.probe()).toBe('200 ready');
    await store[Symbol.asyncDispose]();
    await using gone = await open(store.checkReady);
    expect(await gone.probe()).toMatch(/^503 not ready: /);
  });

  it('is not ready while the process drains, even if the backend is ready', async () => {
    await using draining = await open(async () => {}, { isDraining: () => true });
    expect(await draining.probe()).toBe('503 not ready: draining');
  });

  it('is not ready when the backend does not respond in time', async () => {
    await using hanging = await open(() => new Promise(() => {}));
    expect(await hanging.probe()).toBe('503 not ready: The backend does not respond.');
  });

  it('is also a metric, of the latest check; a scrape starts another one', async () => {
    let isUp = true;
    let checks = 0;
    await using opened = await open(async () => {
      checks++;
      if (!isUp) throw new Error('gone');
    });
    const ready = async () => /^petstore_ready (.*)$/m.exec(await opened.scrape())?.[1];
    // Until a first check has succeeded.
    expect(await ready()).toBe('0');
    await vi.waitFor(async () => expect(await ready()).toBe('1'));
    isUp = false;
    // Nothing but scrapes, because load balancers may probe another path.
    await vi.waitFor(async () => expect(await ready()).toBe('0'));
    isUp = true;
    await vi.waitFor(async () => expect(await ready()).toBe('1'));
    const scrapes = Array.from({ length: 10 }, ready);
    const before = checks;
    await Promise.all(scrapes);
    expect(checks - before).toBeLessThanOrEqual(1);
  });

  it('holds nothing of the API key of a probe', async () => {
    await using opened = await openGateway();
    const headers = { authorization: 'Bearer of-a-probe' };
    for (const path of ['/livez', '/readyz']) {
      await opened.gateway(new Request(`http://gateway.test${path}`, { headers }));
    }
    expect(opened.keys.count(({ isActive }) => isActive)).toBe(0);
  });

  it('checks the backend once for concurrent probes', async () => {
    let checks = 0;
    await using opened = await open(async () => void checks++);
    await Promise.all([opened.probe(), opened.probe(), opened.probe()]);
    expect(checks).toBe(1);
  });
});
