import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { createFolder } from '../support/folder.ts';
import { startGateway } from '../support/gateway.ts';
import { nodeStart } from '../support/process.ts';
import { lastProbe, sendRaw } from '../support/raw-http.ts';

const folder = createFolder();
const pathTo = (name: string) => join(folder, name);

const send = (path: string, bytes: string) => sendRaw(`http://unix:${path}:`, bytes);
const env = (HOST: string) => ({ DATABASE_URL: `file:${folder}/pets.db`, DEMO: 'on', HOST });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('a gateway on a Unix domain socket', () => {
  it('serves there, and removes it', async () => {
    const path = pathTo('served.sock');
    await using started = await nodeStart({ ...env(`unix:${path}?mode=660`), ADMIN_PORT: '0' });
    expect(started.output.stdout).toContain(`GraphQL  http://unix:${path}:/graphql\n`);
    // Only a socket is without a port, and metrics are still scraped over TCP.
    expect(started.output.stdout).toMatch(/Metrics +http:\/\/127\.0\.0\.1:\d+\/metrics/);
    expect(modeOf(path)).toBe('660');
    expect(await send(path, lastProbe)).toMatch(/^HTTP\/1\.1 200 .*live/s);
    process.kill(started.pid, 'SIGTERM');
    expect(await started.exited).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it('replaces the file of a process that was killed', async () => {
    const path = pathTo('stale.sock');
    const killed = await nodeStart(env(`unix:${path}`));
    killed.kill('SIGKILL');
    await killed.exited;
    expect(existsSync(path)).toBe(true);
    for (const WORKERS of ['1', '2']) {
      await using started = await nodeStart({ ...env(`unix:${path}`), WORKERS });
      expect(await send(path, lastProbe)).toMatch(/^HTTP\/1\.1 200 /);
      started.kill('SIGKILL');
    }
  });

  it('does not start while another process listens there, and leaves its file', async () => {
    const path = pathTo('live.sock');
    await using service = await startGateway({ host: `unix:${path}` });
    expect(service.url).toBe(`http://unix:${path}:`);
    await using second = await nodeStart(env(`unix:${path}`));
    expect(await second.exited).toBe(1);
    expect(second.output.stderr).toMatch(
      /HOST: expected a path .* where no other process listens: .* EADDRINUSE.*live\.sock/,
    );
    expect(await send(path, lastProbe)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('never removes a file that is not a socket', async () => {
    const path = pathTo('file');
    writeFileSync(path, 'precious');
    await using started = await nodeStart(env(`unix:${path}`));
    expect(await started.exited).toBe(1);
    expect(started.output.stderr).toContain('EADDRINUSE');
    expect(statSync(path).size).toBe(8);
  });

  it('counts as local, so that it has a demo', () => {
    const { backend, adminHost, onlyLoopbackHosts } = loadConfig({ HOST: 'unix:/run/a.sock' });
    expect(backend).toMatchObject({ demoKey: 'demo-key' });
    expect([adminHost, onlyLoopbackHosts]).toEqual(['127.0.0.1', true]);
  });

  it.each([
    'unix:',
    'unix:gateway.sock',
    'unix:/a.sock?mode=9',
    'unix:/a?mode=0660',
    'unix:/a?x',
  ])('is refused as HOST if it is not a path with a mode: %s', (HOST) => {
    expect(() => loadConfig({ HOST })).toThrow(/HOST: expected .* unix:\/PATH/);
  });
});

describe('ADMIN_HOST', () => {
  it('is the address of the admin port, apart from HOST', async () => {
    expect(loadConfig({ HOST: '0.0.0.0' }).adminHost).toBe('0.0.0.0');
    await using started = await nodeStart({
      ...env('127.0.0.1'),
      ADMIN_HOST: '127.0.0.2',
      ADMIN_PORT: '0',
    });
    expect(started.output.stdout).toMatch(/GraphQL +http:\/\/127\.0\.0\.1:/);
    const url = /Metrics +(http:\/\/127\.0\.0\.2:\d+\/metrics)/.exec(started.output.stdout)?.[1];
    expect((await fetch(url ?? '')).status).toBe(200);
  });
});
