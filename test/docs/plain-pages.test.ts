import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createServer as createVite } from 'vite';
import { expect, vi } from 'vitest';
import { filesOf } from '../support/blocks.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { createConsumer } from '../support/consumer.ts';
import { startGateway } from '../support/gateway.ts';
import { startServer } from '../support/server.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const consumer = createConsumer();
const documented = 'http://127.0.0.1:4000';

browserTest('docs/clients/others.md: a page of plain HTML lists pets', async () => {
  await using gateway = await startGateway({ corsOrigins: ['http://localhost:*'] });
  const { 'index.html': html = '' } = await filesOf('docs/clients/others.md', 'Plain HTML');
  const { root } = await consumer.project({});
  const serve = async ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    const type = url === '/' ? 'text/html' : 'text/javascript';
    const text =
      url === '/'
        ? html.replace(documented, gateway.url)
        : readFile(join(root, url)).catch(() => '');
    response.writeHead(200, { 'content-type': type }).end(await text);
  };
  await using server = await startServer(createServer(serve));
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(`http://localhost:${server.port}/`);
  await page.getByText('Biscuit').waitFor();
  expect(await page.getByRole('listitem').count()).toBe(5);
});

browserTest('docs/retrying.md: a write survives a tunnel and a reload', async () => {
  await using gateway = await startGateway();
  const files = await filesOf('docs/retrying.md', 'Survive a tunnel');
  const page = `import { writeOnce } from './write-once.ts';
    const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
    const [text, button] = document.querySelectorAll('p, button');
    button.addEventListener('click', async () => {
      text.textContent = 'Sending';
      const init = { method: 'POST', headers, body: JSON.stringify({ query }) };
      const { data } = await (await writeOnce('new pet', '/graphql', init)).json();
      text.textContent = 'Pet ' + data.addPet.id;
    });
    text.textContent = 'Ready';`;
  const html = '<p></p><button>Add</button><script type="module" src="main.ts"></script>';
  const { root } = await consumer.project({
    files: { ...files, 'index.html': html, 'main.ts': page },
  });
  const proxy = { '/graphql': gateway.url };
  const server = { host: '127.0.0.1', port: 0, proxy };
  const vite = await createVite({ root, logLevel: 'silent', server });
  await vite.listen();
  await using browser = await openBrowser();
  const tab = await browser.newPage();
  await tab.goto(vite.resolvedUrls?.local[0] ?? '');
  await tab.getByText('Ready').waitFor();
  let failures = 0;
  tab.on('requestfailed', () => failures++);
  await tab.context().setOffline(true);
  await tab.getByRole('button').click();
  await expect.poll(() => failures, { timeout: 10_000 }).toBe(3);
  await tab.getByText('Sending').waitFor();
  await tab.context().setOffline(false);
  await tab.getByText('Pet 13').waitFor();
  await tab.reload();
  await tab.getByText('Ready').waitFor();
  await tab.getByRole('button').click();
  await tab.getByText('Pet 13').waitFor();
  const requests = gateway.lines.filter((line) => line.includes('mutation'));
  expect(requests).toHaveLength(2);
  await tab.close();
  await vite.close();
});
