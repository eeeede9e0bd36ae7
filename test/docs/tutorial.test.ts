import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Route } from 'playwright-core';
import { createServer } from 'vite';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { blocksOf, commandsOf } from '../support/blocks.ts';
import { browserTest, openBrowser } from '../support/browser.ts';
import { createConsumer } from '../support/consumer.ts';
import { shellStart } from '../support/process.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../..');
const tutorial = 'docs/tutorial.md';
const example = join(repository, 'examples/page');
const gatewayUrl = 'http://127.0.0.1:4000';
const serviceUrl = 'http://127.0.0.1:4010/v1';

const consumer = createConsumer();
const ours = ['vite', '@urql/core', 'graphql'];
const project = await consumer.project({ ours, hasGateway: true });
const { root } = project;
/** Copies the example, as the tutorial does, and installs the gateway. */
beforeAll(async () => {
  await cp(example, root, { recursive: true });
  const modules = join(root, 'node_modules');
  const command = join(modules, 'petstore-gateway/dist/bin/main.js');
  await chmod(command, 0o755);
  await mkdir(join(modules, '.bin'));
  await symlink(command, join(modules, '.bin/petstore-gateway'));
  await symlink(process.execPath, join(modules, '.bin/node'));
});

/** Serves the page, whose gateway has this URL, with Vite, and opens it in a browser. */
async function openPage(url: string) {
  const config = await readFile(join(example, 'vite.config.js'), 'utf8');
  await writeFile(join(root, 'vite.config.js'), config.replace(gatewayUrl, url));
  await using stack = new AsyncDisposableStack();
  const server = await createServer({
    root,
    logLevel: 'silent',
    server: { host: '127.0.0.1', port: 0 },
  });
  stack.defer(() => server.close());
  await server.listen();
  const page = await stack.use(await openBrowser()).newPage();
  await page.goto(server.resolvedUrls?.local[0] ?? '');
  const closing = stack.move();
  return {
    page,
    pets: page.getByRole('listitem'),
    alert: page.getByRole('alert'),
    async add(name: string, category: string) {
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Category').fill(category);
      await page.getByRole('button', { name: 'Add' }).click();
    },
    [Symbol.asyncDispose]: () => closing[Symbol.asyncDispose](),
  };
}

/** Starts a block of the tutorial, on a free port. */
const start = (block = '', banner?: RegExp) => shellStart(root, block, { PORT: '0' }, banner);
const startGateway = async () => start((await commandsOf(tutorial, 'See errors'))[0]);

describe('docs/tutorial.md', () => {
  it('quotes the files of the example', async () => {
    const names = ['page.ts', 'problem.ts'];
    const files = await Promise.all(names.map((name) => readFile(join(example, name), 'utf8')));
    const blocks = await blocksOf(tutorial);
    const quoted = blocks.filter(({ language }) => language === 'ts');
    expect(quoted).toHaveLength(3);
    for (const { block } of quoted) expect(files.join('')).toContain(block);
  });

  browserTest('lists and adds pets, and shows errors', async () => {
    await using gateway = await startGateway();
    await using opened = await openPage(gateway.url);
    await opened.pets.nth(11).waitFor();
    expect(await opened.pets.first().innerText()).toBe('Biscuit, available');
    await opened.add('Rex', '9223372036854775807');
    await opened.pets.getByText('Rex, no status').waitFor();
    expect(await opened.pets.count()).toBe(13);
    await opened.add('Rex', 'dogs');
    await opened.alert.getByText(/categoryId.*dogs/).waitFor();
    expect(await opened.pets.count()).toBe(13);
    // A proxy responds without an outcome, then a response is lost: both writes were done.
    const errors = [{ message: 'No response.', extensions: { code: 'UPSTREAM_UNAVAILABLE' } }];
    const ends = [
      (route: Route) => route.fulfill({ status: 502, json: { errors } }),
      (route: Route) => route.abort(),
    ];
    await opened.page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('AddPet')) return route.continue();
      await route.fetch();
      await ends.shift()?.(route);
    });
    for (const name of ['Milo', 'Otis']) {
      await opened.add(name, '1');
      await opened.pets.getByText(`${name}, no status`).waitFor();
      await opened.alert.getByText('The pet may have been added.').waitFor();
    }
    await opened.page.unroute('**/graphql');
    gateway.kill('SIGINT');
    await gateway.exited;
    await opened.add('Rex', '1');
    await opened.alert.getByText('The pet may have been added.').waitFor();
    expect(await opened.pets.count()).toBe(15);
    await opened.page.reload();
    await opened.alert.getByText('The gateway does not respond. Try again later.').waitFor();
  });

  it('has a page without type errors', async () => {
    const options = '--noEmit --strict --target esnext --module esnext --moduleResolution bundler';
    const flags = ['--lib', 'esnext,dom', '--allowImportingTsExtensions', '--skipLibCheck'];
    expect(await project.tsc('7.0', ...options.split(' '), ...flags, 'page.ts')).toBe('');
  });

  browserTest('works with your own service instead of the built-in backend', async () => {
    const [startService, check, startInFront] = await commandsOf(
      tutorial,
      'Use your own REST service',
    );
    await using running = await start(startService, /Service (http:\S+)/);
    const { stdout } = await run('bash', ['-ec', (check ?? '').replace(serviceUrl, running.url)], {
      cwd: root,
    });
    expect(stdout).toMatch(/^pass .*\n\n\d+ passed, 0 failed, .* 11 skipped$/ms);
    expect(await readFile(join(repository, tutorial), 'utf8')).toContain('Eleven are skipped,');

    await using gateway = await start((startInFront ?? '').replace(serviceUrl, running.url));
    await using opened = await openPage(gateway.url);
    await opened.pets.getByText('Shrimp, available').waitFor();
    await opened.add('Rex', '12');
    await opened.alert.getByText('This shop has the categories 1 to 9.').waitFor();
    await opened.add('Rex', '9');
    await opened.pets.getByText('Rex, no status').waitFor();
    running.kill('SIGINT');
    await running.exited;
    await opened.page.reload();
    await opened.alert.getByText('The pet store does not respond.').waitFor();
  });
});
