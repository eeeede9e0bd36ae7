import { describe, expect, it, vi } from 'vitest';
import { openRestPetStore } from '../../src/backends/rest/pet-store.ts';
import { createHealth } from '../../src/server/health.ts';
import { encodeResponse, startFaultServer } from '../support/fault-server.ts';
import { callWith, openBuiltin } from '../support/gateway.ts';
import { httpRequest } from '../support/http-request.ts';
import { quiet } from '../support/log.ts';

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

  it('depends on the REST service: reachable, circuit open, unreachable', async () => {
    let isUp = false;
    const server = await startFaultServer((socket) =>
      isUp ? socket.write(encodeResponse('200 OK', '[]')) : socket.resetAndDestroy(),
    );
    await using petStore = openRestPetStore(
      {
        baseUrl: new URL(server.url),
        messagesBaseUrl: undefined,
        timeoutMs: 2000,
        limits: { breakAfterFailures: 2, halfOpenAfterMs: 1000 },
      },
      quiet,
    );
    expect(await readiness(petStore.checkReady)).toBe('200 ready');
    for (const key of ['a', 'b']) await petStore.listPets(callWith(key), {}).catch(() => {});
    expect(await readiness(petStore.checkReady)).toMatch(/^503 not ready: .*failed repeatedly/);
    isUp = true;
    await vi.waitFor(() => petStore.listPets(callWith(), {}), { interval: 20, timeout: 10_000 });
    expect(await readiness(petStore.checkReady)).toBe('200 ready');
    await server[Symbol.asyncDispose]();
    expect(await readiness(petStore.checkReady)).toMatch(/^503 not ready: .*could not be reached/);
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
