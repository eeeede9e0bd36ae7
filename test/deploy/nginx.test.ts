import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { petsFirst, readParts, startHolding } from '../support/parts.ts';

describe('deploy/nginx.conf', () => {
  it.skipIf(!hasNginx)('forwards each part immediately', async () => {
    await using service = await startHolding();
    await using nginx = await startNginx([service.url]);
    const agent = new Agent({ connect: { socketPath: nginx.socketPath } });
    await using stack = new AsyncDisposableStack();
    stack.defer(() => agent.destroy());
    const { headers, body } = await agent.request({
      origin: 'http://gateway.test',
      path: '/graphql',
      method: 'POST',
      headers: {
        authorization: 'Bearer demo-key',
        'content-type': 'application/json',
        accept: 'multipart/mixed',
      },
      body: JSON.stringify({ query: petsFirst }),
    });
    const response = new Response(Readable.toWeb(body) as ReadableStream, {
      headers: { 'content-type': String(headers['content-type']) },
    });
    const parts = readParts(response);
    expect((await parts.next()).value).toMatchObject({ data: { pets: [{ id: '1' }] } });
    service.release();
    expect((await parts.next()).value).toMatchObject({ hasNext: false });
    expect((await parts.next()).done).toBe(true);
  });
});
