import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createGateway, loadConfig } from '../../src/index.ts';

// Takes the README's screenshot, graphiql.png: GraphiQL of a new gateway after a first query.

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const path = fileURLToPath(new URL('graphiql.png', import.meta.url));

await using gateway = await createGateway(
  loadConfig({ DATABASE_URL: ':memory:', LOG_LEVEL: 'warn' }),
);
const server = createServer(gateway.nodeListener).listen(0, '127.0.0.1');
await once(server, 'listening');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1360, height: 720 } });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`);
  await page.getByRole('button', { name: 'Storefront', exact: true }).click();
  await page.locator('.graphiql-query-editor .view-lines').getByText('Storefront').waitFor();
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.locator('.result-window').getByText('"Biscuit"').waitFor();
  await page.mouse.move(0, 0);
  await page.screenshot({ path });
} finally {
  await browser.close();
  server.close();
}
