import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { packClient } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';
import { readParts, sendForParts } from '../../support/parts.ts';
import { pastePage } from '../../support/pasted-page.ts';
import { nodeStart } from '../../support/process.ts';
import { hasRegistry, registryTest } from '../../support/registry.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 1_200_000 });

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };

describe('docs/hosts/workers.md as pasted', () => {
  const folder = createFolder();
  const opened = new AsyncDisposableStack();
  let service: Awaited<ReturnType<typeof startUpstream>>;
  let respondToOrders: (response: ServerResponse) => void;
  let url: string;
  beforeAll(async () => {
    if (!hasRegistry) return;
    await packClient(folder);
    const host = await pastePage('docs/hosts/workers.md', folder);
    service = opened.use(
      await startUpstream((request, response) => {
        if (request.url.endsWith('/orders')) respondToOrders(response);
        else sendJson(response, 200, '[{"id":9007199254740993,"name":"Rex","categoryId":1}]');
      }),
    );
    const env = { PETSTORE_BASE_URL: `${service.url}/v1`, CORS_ORIGINS: 'https://shop.example' };
    const gateway = opened.use(await nodeStart(env));
    const settings = ['--port 0 --ip 127.0.0.1', `--var GATEWAY_URL:${gateway.url}/graphql`];
    const worker = opened.use(await host.start({ WRANGLER_SEND_METRICS: 'false' }, settings));
    expect(worker.url, worker.output.stderr).not.toBe('');
    url = worker.url;
  });
  afterAll(() => opened.disposeAsync());

  registryTest('forwards requests and preflight requests to the gateway', async () => {
    const body = '{"query":"{ pets { id } }"}';
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    expect(await response.json()).toEqual({ data: { pets: [{ id: '9007199254740993' }] } });
    const get = await fetch(`${url}/graphql?query={pets{name}}`, { headers });
    expect(await get.json()).toEqual({ data: { pets: [{ name: 'Rex' }] } });
    const preflight = await fetch(`${url}/graphql`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://shop.example');
  });

  registryTest('calls the gateway in its own route, with the key of the caller', async () => {
    respondToOrders = (response) => sendJson(response, 200, '[1]');
    const response = await fetch(`${url}/storefront`, { headers });
    expect(await response.json()).toMatchObject({
      data: { available: [{ name: 'Rex' }], orders: [1] },
    });
    expect(service.seen.at(-1)?.headers.authorization).toBe(headers.authorization);
    const refused = await (await fetch(`${url}/storefront`)).json();
    expect(refused.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  registryTest('sends the fields of a deferred fragment when they have arrived', async () => {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>();
    respondToOrders = resolve;
    const parts = readParts(await sendForParts(fetch, url));
    expect((await parts.next()).value).toMatchObject({ data: { pets: [{}] }, hasNext: true });
    sendJson(await promise, 200, '[]');
    expect((await parts.next()).value).toMatchObject({ hasNext: false });
  });
});
