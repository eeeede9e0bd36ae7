import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from './server.ts';
import type { Shared } from './shared.ts';

const run = promisify(execFile);

/** Builds or starts something for this run, and returns its path or address. */
type Open = (folder: string, closing: AsyncDisposableStack) => Promise<string>;

const openers: Readonly<Record<Shared, Open>> = {
  async browser(_, closing) {
    const { launchBrowserServer } = await import('./browser-server.ts');
    const server = await launchBrowserServer();
    closing.defer(() => server.close());
    return server.wsEndpoint();
  },
  async 'client-package'(folder) {
    const { packClientInto } = await import('./packages.ts');
    return packClientInto(folder);
  },
  async command(folder) {
    const output = join(folder, 'command');
    const path = join(output, 'bin/main.js');
    await run(process.execPath, ['node_modules/rolldown/bin/cli.mjs', '--config', '--dir', output]);
    // Gateways that are killed write no compile cache: one that is not fills it for the others.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(output, 'compile-cache') };
    const options = { env: { ...env, PORT: '0', DATABASE_URL: ':memory:' } };
    const first = spawn(process.execPath, [path], options);
    await once(first.stdout, 'data');
    first.kill('SIGTERM');
    await once(first, 'exit');
    return path;
  },
  async 'gateway-package'(folder) {
    const { packGatewayInto } = await import('./packages.ts');
    return packGatewayInto(folder);
  },
  async postgres(_, closing) {
    const { startPostgres } = await import('./postgres.ts');
    // No test of this server cuts off its power.
    const server = closing.use(await startPostgres({ fsync: 'off' }));
    return server.url;
  },
};

/**
 * Global setup of the test run: serves what its files share, each built or started when it is first
 * requested, so that a run of one file waits only for what it needs. All of it ends with the run.
 */
export async function setup() {
  const closing = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-shared-'));
  closing.defer(() => rm(folder, { recursive: true }));
  const opened = new Map<string, Promise<string>>();
  const server = createServer(async ({ url = '' }, response) => {
    const name = url.slice(1) as Shared;
    const opening = opened.get(name) ?? openers[name](folder, closing);
    opened.set(name, opening);
    await opening.then(
      (text) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  const { url } = closing.use(await startServer(server));
  process.env['TEST_SHARED'] = url;
  return async () => {
    // What is still being opened would not be closed.
    await Promise.allSettled(opened.values());
    await closing.disposeAsync();
  };
}
