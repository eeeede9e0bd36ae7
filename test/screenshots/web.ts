import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer as createVite } from 'vite';
import { createGateway, loadConfig } from '../../src/index.ts';

// Takes the screenshots web-*.png: the page of examples/web with a new gateway.

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

await using gateway = await createGateway(
  loadConfig({ DATABASE_URL: ':memory:', LOG_LEVEL: 'warn' }),
);
const server = createServer(gateway.nodeListener).listen(0, '127.0.0.1');
await once(server, 'listening');
const vite = await createVite({
  root: fileURLToPath(new URL('../../examples/web', import.meta.url)),
  logLevel: 'warn',
  server: {
    host: '127.0.0.1',
    port: 0,
    proxy: { '/graphql': `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  },
});
await vite.listen();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  for (const [name, colorScheme, width, height] of [
    ['light', 'light', 1280, 800],
    ['dark', 'dark', 1280, 800],
    ['phone', 'light', 390, 800],
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    await page.goto(vite.resolvedUrls?.local[0] ?? '');
    await page.getByText('Biscuit').waitFor();
    await page.getByText('12 pets').waitFor();
    await page.screenshot({ path: fileURLToPath(new URL(`web-${name}.png`, import.meta.url)) });
  }
} finally {
  await browser.close();
  await vite.close();
  server.close();
}
