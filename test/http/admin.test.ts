import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { listenAdmin } from '../../src/http/admin.ts';
import { openGateway } from '../support/gateway.ts';
import { valuesOf } from '../support/metrics.ts';
import { connectTo, lastProbe, sendRaw, statusesOf } from '../support/raw-http.ts';

const displaced = 'petstore_connections_displaced_total';

/** Opens connections that send a byte of `sent` every 400 ms, and opens each again that is closed. */
function startDripping(url: string, count: number, sent: string): Disposable {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const socket = connectTo(url).resume();
    sockets.add(socket);
    socket.write(sent);
    const timer = setInterval(() => socket.write('x'), 400);
    socket.once('close', () => {
      clearInterval(timer);
      sockets.delete(socket);
      open();
    });
  };
  for (let index = 0; index < count; index++) open();
  return {
    [Symbol.dispose]() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

const head = 'POST /metrics HTTP/1.1\r\nHost: localhost\r\n';

/** What a slow client has sent before it drips, by a name. */
const slowRequests: readonly (readonly [string, string])[] = [
  ['a header', `${head}X-Slow: `],
  ['a body', `${head}Content-Length: 1000\r\n\r\n`],
  [
    'a body after a request',
    `GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n${head}Content-Length: 1000\r\n\r\n`,
  ],
];

describe('the admin port', () => {
  it('makes one scrape per second, which all scrapers receive', async () => {
    await using opened = await openGateway();
    let scrapes = 0;
    const { metrics, health } = opened;
    const scrapeNow = async () => {
      scrapes++;
      return { ...(await metrics.scrape()), text: `scrape ${scrapes}\n` };
    };
    const address = { adminHost: '127.0.0.1', adminPort: 0 };
    const admin = await listenAdmin(opened, metrics, health, address, scrapeNow);
    await using _ = { [Symbol.asyncDispose]: async () => admin?.close(0) };
    const scrape = async () => (await fetch(`${admin?.url}/metrics`)).text();
    const start = performance.now();
    const texts = await Promise.all(Array.from({ length: 50 }, scrape));
    texts.push(await scrape(), await scrape());
    expect(scrapes).toBeLessThanOrEqual(1 + (performance.now() - start) / 1000);
    expect(texts).toContain('scrape 1\n');
    await vi.waitFor(async () => expect(await scrape()).not.toBe(texts.at(-1)));
  });

  it.each(slowRequests)('responds to probes beside 110 that drip %s', async (_, sent) => {
    await using opened = await openGateway();
    const { metrics } = opened;
    const address = { adminHost: '127.0.0.1', adminPort: 0 };
    const admin = await listenAdmin(opened, metrics, opened.health, address);
    await using _admin = { [Symbol.asyncDispose]: async () => admin?.close(0) };
    const { url = '' } = admin ?? {};
    using _attack = startDripping(url, 110, sent);
    const closed = async () => (await valuesOf(metrics, displaced))[''] ?? 0;
    // All are used, and none was silent for a second.
    await vi.waitFor(async () => expect(await closed()).toBeGreaterThan(10));
    for (let probes = 0; probes < 28; probes++) {
      expect(statusesOf(await sendRaw(url, lastProbe).catch(String))).toEqual([200]);
    }
    expect(await valuesOf(metrics, 'petstore_connections_refused_total')).toEqual({});
  });
});
