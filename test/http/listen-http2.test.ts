import { once } from 'node:events';
import * as http2 from 'node:http2';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { createNodeListener } from '../../src/http/node.ts';
import { apiKey, openBuiltin, openGateway, type TestOptions } from '../support/gateway.ts';
import { holdingOrders, petsFirst } from '../support/parts.ts';
import { connectTo } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';

/** Mounts a gateway in an HTTP/2 server, and connects to it. */
async function mount(options: TestOptions = {}) {
  const gateway = await openGateway(options);
  // Node calls requests of HTTP/2 compatible with those of HTTP/1.1; their types differ.
  const server = await startServer(http2.createServer(createNodeListener(gateway) as never));
  const session = http2.connect(server.url);
  return {
    ...gateway,
    /** Sends a document, with these headers. */
    send(query: string, headers: http2.OutgoingHttpHeaders = {}) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/graphql',
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...headers,
      });
      stream.on('error', () => {}).end(JSON.stringify({ query }));
      return stream;
    },
    async [Symbol.asyncDispose]() {
      session.destroy();
      await server[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

describe('a mounted HTTP/2 server', () => {
  it('streams the parts of @defer', async () => {
    await using mounted = await mount();
    const stream = mounted.send(petsFirst, { accept: 'multipart/mixed' });
    expect(await text(stream)).toMatch(/"hasNext":true.*"hasNext":false/s);
  });

  it('accepts repeated headers, of which browsers send cookies', async () => {
    await using mounted = await mount();
    const stream = mounted.send('{ pets(limit: 1) { id } }', { cookie: ['a=1', 'b=2'] });
    expect(await text(stream)).toContain('"data":{"pets":[{"id":"1"}]}');
  });

  it('cancels the calls of a client that leaves, and starts no further ones', async () => {
    const held = holdingOrders(await openBuiltin());
    await using mounted = await mount(held);
    const stream = mounted.send('{ orders }');
    await held.called(1);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await vi.waitFor(() => expect(held.cancelled()).toBe(1));
    await vi.waitFor(() => expect(mounted.requests()).toMatchObject([{ codes: ['CANCELLED'] }]));
  });
});

it('refuses the body of a GET that asks for parts, and holds nothing for it', async () => {
  await using gateway = await openGateway();
  const { createServer } = await import('node:http');
  await using server = await startServer(createServer(createNodeListener(gateway)));
  const client = connectTo(server.url);
  const query = encodeURIComponent('{ a: __typename ... @defer { b: __typename } }');
  client.write(
    `GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: multipart/mixed\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(18_000)}`,
  );
  const [response] = await once(client, 'data');
  expect(String(response)).toMatch(/^HTTP\/1\.1 413 /);
  client.end('x'.repeat(2000));
  await once(client, 'close');
  expect((await gateway.metrics.scrape()).text).toContain(
    'petstore_limit_used{limit="requests"} 0',
  );
});
