import * as http2 from 'node:http2';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createNodeListener } from '../../src/server/node.ts';
import { apiKey, openGateway } from '../support/gateway.ts';
import { petsFirst } from '../support/parts.ts';
import { startServer } from '../support/server.ts';

it('streams the parts of @defer from a mounted HTTP/2 server', async () => {
  await using gateway = await openGateway();
  const listener = createNodeListener(gateway);
  // Node calls requests of HTTP/2 compatible with those of HTTP/1.1; their types differ.
  await using server = await startServer(http2.createServer(listener as never));
  const session = http2.connect(server.url);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/graphql',
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    accept: 'multipart/mixed',
  });
  stream.end(JSON.stringify({ query: petsFirst }));
  expect(await text(stream)).toMatch(/"hasNext":true.*"hasNext":false/s);
  session.destroy();
});
