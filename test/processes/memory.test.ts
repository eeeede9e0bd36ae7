import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { readParts, sendForParts } from '../support/parts.ts';
import { nodeStart } from '../support/process.ts';
import { connectTo, rawGet } from '../support/raw-http.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

describe('a gateway with 512 MiB', () => {
  const crowd = 1000;

  it('serves a thousand concurrent responses in parts', async () => {
    const pets = JSON.stringify(
      Array.from({ length: 100 }, (_, id) => ({ id, name: `Pet ${id}`, categoryId: 1 })),
    );
    const held: ServerResponse[] = [];
    await using upstream = await startUpstream(({ url }, response) => {
      if (url.includes('orders')) held.push(response);
      else sendJson(response, 200, pets);
    });
    await using gateway = await nodeStart({
      NODE_OPTIONS: '--max-old-space-size=400',
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      LOG_LEVEL: 'warn',
      UPSTREAM_TIMEOUT_MS: '60000',
      // No request may be refused, because a refused one uses no memory.
      MAX_EVENT_LOOP_LAG_MS: '60000',
      MAX_REQUESTS_IN_FLIGHT_PER_KEY: String(crowd),
    });
    // From now on the gateway knows that the service accepts the key.
    await (await sendForParts(fetch, gateway.url, '{ pets { id } }')).text();
    const query = '{ pets(limit: 100) { id name categoryId } ... @defer { orders } }';
    const open = async () => {
      const parts = readParts(await sendForParts(fetch, gateway.url, query));
      return { parts, first: (await parts.next()).value };
    };
    const streams = await Promise.all(Array.from({ length: crowd }, open));
    expect(streams.filter(({ first }) => first?.hasNext)).toHaveLength(crowd);
    expect(streams.filter(({ first }) => first?.errors)).toEqual([]);
    const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
    const peakMib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    for (const response of held.splice(0)) sendJson(response, 200, '[1]');
    const last = await Promise.all(streams.map(async ({ parts }) => (await parts.next()).value));
    expect(last.filter((part) => part?.hasNext === false)).toHaveLength(crowd);
    expect(peakMib).toBeLessThan(512);
  });
});

describe('a gateway with 256 MiB of heap', () => {
  const script = '/v1/docs/swagger-ui-bundle.js';

  it('serves its largest files to 1,000 clients while others do not read theirs', async () => {
    await using gateway = await nodeStart({
      NODE_OPTIONS: '--max-old-space-size=256',
      DATABASE_URL: ':memory:',
      LOG_LEVEL: 'warn',
      // No request may be refused, because a refused one uses no memory.
      MAX_EVENT_LOOP_LAG_MS: '60000',
      MAX_REQUESTS_IN_FLIGHT: '4000',
      MAX_REQUESTS_IN_FLIGHT_PER_KEY: '2000',
    });
    /** Sends a request and returns the connection. */
    const request = (path: string, coding: string) => {
      const socket = connectTo(gateway.url);
      const headers = `Accept: text/html\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n`;
      socket.write(rawGet(path, headers));
      return socket;
    };
    const load = async (path: string, coding: string) => {
      const socket = request(path, coding);
      let received = 0;
      let start: string | undefined;
      socket.on('data', (chunk) => {
        start ??= chunk.toString('latin1', 0, 15);
        received += chunk.length;
      });
      await once(socket, 'close');
      return `${start} ${received}`;
    };

    const unread = Array.from({ length: 50 }, (_, index) =>
      request(index % 2 ? script : '/graphql', 'identity').pause(),
    );
    for (const [crowd, path, coding] of [
      [250, script, 'br'],
      [1000, script, 'br'],
      [250, '/graphql', 'br'],
      [1000, '/graphql', 'br'],
    ] as const) {
      const loads = Array.from({ length: crowd }, () => load(path, coding));
      const alive = text(request('/livez', 'identity'));
      expect(await alive).toMatch(/^HTTP\/1\.1 200 OK/);
      const responses = new Set(await Promise.all(loads));
      expect([...responses]).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK \d{6,}$/)]);
    }
    for (const socket of unread) socket.destroy();
    const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
    const kib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]);
    // Without the pages of Node's binary: how many of its 120 MB are resident depends on the kernel.
    const peakMib = (kib('VmHWM') - kib('RssFile')) / 1024;
    expect(peakMib).toBeLessThan(300);
  });
});
