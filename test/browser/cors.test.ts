import { expect } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { maxBodyBytes } from '../../src/http/body.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { openBuiltin, startGateway } from '../support/gateway.ts';
import { holdingOrders } from '../support/parts.ts';
import { startUpstream } from '../support/upstream.ts';

const json = { 'content-type': 'application/json' };
const post = (body: string, headers: Record<string, string> = json) => ({
  method: 'POST',
  headers,
  body,
});

browserTest('a page of an allowed origin reads every response, any other page none', async () => {
  const { petStore, called, release } = holdingOrders(await openBuiltin());
  await using shop = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A shop</title>');
  });
  await using service = await startGateway({
    petStore,
    corsOrigins: [shop.url],
    maxRequestsInFlightPerKey: 1,
  });
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(shop.url);
  /** Sends a request from the page. @returns what its scripts can read of the response. */
  const send = (path: string, init: ReturnType<typeof post> | object = {}) =>
    page.evaluate(
      async ([url, init]) => {
        const response = await fetch(url, init);
        const { status, headers } = response;
        return { status, retryAfter: headers.get('retry-after'), text: await response.text() };
      },
      [service.url + path, init] as const,
    );

  expect(await send('/v1/pets')).toMatchObject({
    status: 401,
    text: expect.stringContaining('"code":"unauthenticated"'),
  });
  expect(await send('/graphql', post(' '.repeat(maxBodyBytes + 1)))).toMatchObject({
    status: 413,
    text: expect.stringContaining('BODY_TOO_LARGE'),
  });
  const withKey = { ...json, authorization: 'Bearer demo-key', baggage: 'release=1' };
  const orders = post('{"query":"{ orders }"}', withKey);
  const before = service.lines.length;
  const held = send('/graphql', orders);
  await called(1);
  expect(await send('/graphql', orders)).toMatchObject({
    status: 429,
    retryAfter: '1',
    text: expect.stringContaining('RATE_LIMITED'),
  });
  release();
  expect((await held).status).toBe(200);
  // One preflight request for both.
  const operations = service.lines.slice(before).map((line) => JSON.parse(line).operation);
  expect(operations.filter((operation) => operation === 'OPTIONS /graphql')).toHaveLength(1);

  await page.goto(shop.url.replace('127.0.0.1', 'localhost'));
  const other = send('/graphql', post('{"query":"{ __typename }"}'));
  await expect(other).rejects.toThrow('Failed to fetch');
  expect(JSON.parse(service.lines.at(-1) ?? '').refusedOrigin).toMatch(/^http:\/\/localhost:\d+$/);
});

browserTest('a page of any port of this machine calls a demo', async () => {
  await using page = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Vite</title>');
  });
  const { corsOrigins } = loadConfig({});
  await using service = await startGateway({ corsOrigins, onlyLoopbackHosts: true });
  await using browser = await openBrowser();
  const tab = await browser.newPage();
  const init = post('{"query":"{ pets(limit: 1) { name } }"}', {
    ...json,
    authorization: 'Bearer demo-key',
  });
  for (const host of ['localhost', '127.0.0.1']) {
    await tab.goto(page.url.replace('127.0.0.1', host));
    const text = await tab.evaluate(async ([url, init]) => (await fetch(url, init)).text(), [
      `${service.url}/graphql`,
      init,
    ] as const);
    expect(JSON.parse(text)).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
  }
  expect(service.logged).toEqual([]);
});
