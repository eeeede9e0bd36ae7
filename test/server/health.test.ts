import { describe, expect, it } from 'vitest';
import { createHealth } from '../../src/server/health.ts';
import { openBuiltin } from '../support/gateway.ts';
import { httpRequest } from '../support/http-request.ts';

/** Returns the response of `/readyz` for a backend, without the cache. */
async function readiness(checkReady: () => Promise<void>, isDraining = false) {
  const health = createHealth(checkReady, () => isDraining);
  const response = await health(httpRequest('/readyz'));
  return `${response?.status} ${response?.body}`.trim();
}

describe('/readyz', () => {
  it('is ready only while the database responds', async () => {
    const store = await openBuiltin();
    expect(await readiness(store.checkReady)).toBe('200 ready');
    await store[Symbol.asyncDispose]();
    expect(await readiness(store.checkReady)).toMatch(/^503 not ready: /);
  });

  it('is not ready while the process drains, even if the backend is ready', async () => {
    expect(await readiness(async () => {}, true)).toBe('503 not ready: draining');
  });

  it('is not ready when the backend does not respond in time', async () => {
    expect(await readiness(() => new Promise(() => {}))).toBe(
      '503 not ready: The backend does not respond.',
    );
  });

  it('checks the backend once for concurrent probes', async () => {
    let checks = 0;
    const checkReady = async () => void checks++;
    const health = createHealth(checkReady, () => false);
    const probe = () => health(httpRequest('/readyz'));
    await Promise.all([probe(), probe(), probe()]);
    expect(checks).toBe(1);
  });
});
