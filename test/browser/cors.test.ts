import { describe, expect } from 'vitest';
import { maxBodyBytes } from '../../src/http/body.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { openBuiltin, startGateway, type TestOptions } from '../support/gateway.ts';
import { holdingOrders } from '../support/parts.ts';
import { startUpstream } from '../support/upstream.ts';

/** A request that the page sends. */
interface PageRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Opens a page of another origin in a new browser. */
async function openPage(options: TestOptions) {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startGateway(options));
  const shop = stack.use(
    await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A shop</title>');
    }),
  );
  const browser = stack.use(await openBrowser());
  const page = await browser.newPage();
  await page.goto(shop.url);
  const closing = stack.move();
  return {
    ...service,
    /** Sends a request from the page. @returns what its scripts can read of the response. */
    send: (path: string, init: PageRequest = {}) =>
      page.evaluate(
        async ([url, init]) => {
          const response = await fetch(url, init);
          const { status, headers } = response;
          const text = await response.text();
          return { status, retryAfter: headers.get('retry-after'), text };
        },
        [service.url + path, init] as const,
      ),
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  };
}

const json = { 'content-type': 'application/json' };
const post = (body: string, headers: Record<string, string> = json): PageRequest => ({
  method: 'POST',
  headers,
  body,
});

describe('a page of another origin, in Chromium', { timeout: 60_000 }, () => {
  browserTest('reads the status and body of every kind of error', async () => {
    const { petStore, called, release } = holdingOrders(await openBuiltin());
    await using shop = await openPage({
      petStore,
      corsOrigins: ['http://127.0.0.1:*'],
      // Keys that the backend has not accepted yet have half of it.
      maxRequestsInFlight: 4,
      maxRequestsInFlightPerKey: 1,
    });
    const { send } = shop;
    const withKey = (key: string) =>
      send('/graphql', post('{"query":"{ orders }"}', { ...json, authorization: `Bearer ${key}` }));

    expect(await send('/v1/pets')).toMatchObject({
      status: 401,
      text: expect.stringContaining('"code":"unauthenticated"'),
    });
    expect(await send('/graphql', post(' '.repeat(maxBodyBytes + 1)))).toMatchObject({
      status: 413,
      text: expect.stringContaining('BODY_TOO_LARGE'),
    });
    expect(await send('/graphql', post('query=x', {}))).toMatchObject({
      status: 415,
      text: expect.stringContaining('UNSUPPORTED_MEDIA_TYPE'),
    });
    const first = withKey('key-1');
    await called(1);
    expect(await withKey('key-1')).toMatchObject({
      status: 429,
      retryAfter: '1',
      text: expect.stringContaining('RATE_LIMITED'),
    });
    const second = withKey('key-2');
    await called(2);
    expect(await withKey('key-3')).toMatchObject({
      status: 503,
      retryAfter: '1',
      text: expect.stringContaining('OVERLOADED'),
    });
    release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  browserTest('sends one preflight request for several requests', async () => {
    await using shop = await openPage({ corsOrigins: ['http://127.0.0.1:*'] });
    const headers = { ...json, authorization: 'Bearer demo-key', baggage: 'release=1' };
    for (let count = 0; count < 3; count++) {
      expect(await shop.send('/graphql', post('{"query":"{ __typename }"}', headers))).toEqual({
        status: 200,
        retryAfter: null,
        text: '{"data":{"__typename":"Query"}}',
      });
    }
    const operations = shop.lines.map((line) => JSON.parse(line).operation);
    expect(operations).toEqual(['OPTIONS /graphql', 'query', 'query', 'query']);
  });

  browserTest('reads nothing if its origin is not allowed', async () => {
    await using shop = await openPage({ corsOrigins: ['https://shop.example'] });
    await expect(shop.send('/graphql', post('{"query":"{ __typename }"}'))).rejects.toThrow(
      'Failed to fetch',
    );
    expect(JSON.parse(shop.lines[0] ?? '').refusedOrigin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});
