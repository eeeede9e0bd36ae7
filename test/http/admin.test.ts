import { describe, expect, it, vi } from 'vitest';
import { listenAdmin } from '../../src/http/admin.ts';
import { openGateway } from '../support/gateway.ts';

describe('the admin port', () => {
  it('makes one scrape per second, which all scrapers receive', async () => {
    await using opened = await openGateway();
    let scrapes = 0;
    const metrics = {
      async scrape() {
        scrapes++;
        return { ...(await opened.metrics.scrape()), text: `scrape ${scrapes}\n` };
      },
    };
    const address = { adminHost: '127.0.0.1', adminPort: 0 };
    const admin = await listenAdmin(opened, metrics, opened.health, address);
    await using _ = { [Symbol.asyncDispose]: async () => admin?.close(0) };
    const scrape = async () => (await fetch(`${admin?.url}/metrics`)).text();
    const start = performance.now();
    const texts = await Promise.all(Array.from({ length: 50 }, scrape));
    texts.push(await scrape(), await scrape());
    expect(scrapes).toBeLessThanOrEqual(1 + (performance.now() - start) / 1000);
    expect(texts).toContain('scrape 1\n');
    await vi.waitFor(async () => expect(await scrape()).not.toBe(texts.at(-1)), {
      timeout: 60_000,
    });
  });
});
