import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { apiKey, callWith, startGateway } from '../support/gateway.ts';
import { hasNginx, startNginx } from '../support/nginx.ts';
import { petsFirst, readParts, startHolding } from '../support/parts.ts';

const run = promisify(execFile);

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
        'accept-encoding': 'gzip',
      },
      body: JSON.stringify({ query: petsFirst }),
    });
    expect(headers['content-encoding']).toBeUndefined();
    const response = new Response(Readable.toWeb(body) as ReadableStream, {
      headers: { 'content-type': String(headers['content-type']) },
    });
    const parts = readParts(response);
    expect((await parts.next()).value).toMatchObject({ data: { pets: [{ id: '1' }] } });
    service.release();
    expect((await parts.next()).value).toMatchObject({ hasNext: false });
    expect((await parts.next()).done).toBe(true);
  });

  it.skipIf(!hasNginx)('compresses whole results from 4 KiB', async () => {
    await using service = await startGateway();
    for (let index = 0; index < 100; index++) {
      await service.petStore.createPet(callWith(), {
        name: `Biscuit ${index}`,
        categoryId: '1',
        status: 'available',
      });
    }
    await using nginx = await startNginx([service.url]);
    /** Returns the headers and the decoded body, as curl receives them. */
    async function post(limit: number, ...options: string[]) {
      const query = `{ pets(limit: ${limit}) { id name categoryId status } }`;
      const sent = [
        '-H',
        `authorization: Bearer ${apiKey}`,
        '-H',
        'content-type: application/json',
      ];
      const data = ['-d', JSON.stringify({ query })];
      const to = ['--unix-socket', nginx.socketPath, 'http://gateway.test/graphql'];
      const { stdout } = await run('curl', ['-sSi', ...options, ...sent, ...data, ...to]);
      const [head = '', body = ''] = stdout.split('\r\n\r\n');
      return { head: head.toLowerCase(), body };
    }
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const whole = await post(100, '-H', `accept: ${accept}`);
      const compressed = await post(100, '--compressed', '-H', `accept: ${accept}`);
      expect(whole.head).not.toContain('content-encoding');
      expect(compressed.head).toContain('content-encoding: gzip');
      expect(compressed.head).toContain('vary: accept-encoding');
      expect(compressed.body).toBe(whole.body);
      expect(whole.body.length).toBeGreaterThan(4096);
    }
    expect((await post(5, '--compressed')).head).not.toContain('content-encoding');
  });
});
