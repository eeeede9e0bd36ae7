import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Agent, request } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import { serve } from '../../src/cli/serve.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createAuthority } from '../support/authority.ts';
import { encodeResponse, startFaultServer } from '../support/fault-server.ts';
import { createFolder } from '../support/folder.ts';
import { graphqlRequest } from '../support/graphql.ts';
import { openTelemetry } from '../support/log.ts';
import { commandPath, nodeLaunch, nodeStart, npmStart } from '../support/process.ts';
import { startServer } from '../support/server.ts';
import { startHoldingUpstream, startUpstream } from '../support/upstream.ts';

const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };

const folder = createFolder();

async function addPet(url: string, name: string): Promise<string> {
  const body = JSON.stringify({ name, categoryId: 1 });
  const response = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return String((await response.json()).id);
}

describe('a gateway that stops', () => {
  it('closes its ports, finishes a write whose client has left, and then exports its last traces', async () => {
    const held: Socket[] = [];
    await using rest = await startFaultServer((socket) => held.push(socket));
    const exported: string[] = [];
    const end = { [Symbol.asyncDispose]: async () => void exported.push('the last traces') };
    const telemetry = openTelemetry();
    const env = {
      PETSTORE_BASE_URL: `${rest.url}/v1`,
      PORT: '0',
      ADMIN_PORT: '0',
      SHUTDOWN_GRACE_MS: '60000',
    };
    const service = await serve(loadConfig(env), {
      ...telemetry,
      tracing: { ...telemetry.tracing, ...end },
    });
    const client = new AbortController();
    const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const request = graphqlRequest(service.url, { query }, { authorization: 'Bearer any-key' });
    const sent = fetch(request, { signal: client.signal });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    client.abort();
    await expect(sent).rejects.toThrow();
    const stopped = service.stop(new AbortController().signal);
    for (const url of [service.url, service.adminUrl]) {
      await vi.waitFor(() => expect(fetch(`${url}/livez`)).rejects.toThrow());
    }
    expect(exported).toEqual([]);
    held[0]?.write(encodeResponse('201 Created', '{"id":1,"name":"Rex","categoryId":1}'));
    await stopped;
    expect(exported).toEqual(['the last traces']);
    expect(telemetry.logged).toEqual([]);
  });
});

describe('a gateway that receives a signal', () => {
  const send = (url: string, query = '{ pets { id } }') => fetch(graphqlRequest(url, { query }));

  const refusesConnections = ({ url }: { readonly url: string }) =>
    vi.waitFor(() => expect(fetch(`${url}/livez`)).rejects.toThrow());

  it.each([
    ['SIGTERM', nodeStart],
    // npm forwards a signal that its process group has received, too, which counts as the same.
    ['SIGTERM', npmStart],
    ['SIGINT', npmStart],
  ] as const)('completes requests in flight on %s, accepts no new ones, and exits with 0', async (signal, start) => {
    await using upstream = await startHoldingUpstream();
    const env = { PETSTORE_BASE_URL: `${upstream.url}/v1`, ADMIN_PORT: '0' };
    await using started = await start(env);
    const pending = send(started.url);
    const respond = await upstream.pending;
    const [, admin] = /Metrics +(\S+)\/metrics/.exec(started.output.stdout) ?? [];
    started.kill(signal);
    await vi.waitFor(async () => {
      const ready = await fetch(`${admin}/readyz`);
      expect([ready.status, await ready.text()]).toEqual([503, 'not ready: draining\n']);
    });
    await refusesConnections(started);
    respond();
    expect(await (await pending).json()).toEqual({ data: { pets: [] } });
    expect(await started.exited).toBe(0);
    const logged = [...started.output.stderr.matchAll(/"msg":"([^"]*)"/g)].map(([, msg]) => msg);
    expect(logged).toEqual(['shutting down', 'request', 'shut down']);
  });

  it('drops a write in flight when the grace period ends', async () => {
    await using upstream = await startHoldingUpstream();
    await using started = await nodeStart({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      SHUTDOWN_GRACE_MS: '100',
      UPSTREAM_TIMEOUT_MS: '600000',
    });
    const query = 'mutation { addPet(input: { name: "Rex", categoryId: 1 }) { id } }';
    const dropped = expect(send(started.url, query)).rejects.toThrow();
    await upstream.pending;
    started.kill('SIGTERM');
    await dropped;
    expect(await started.exited).toBe(0);
  });

  it.each([
    ['node', nodeStart],
    ['npm', npmStart],
  ])('exits immediately on a second signal when started by %s', async (_, start) => {
    await using upstream = await startHoldingUpstream();
    await using started = await start({
      PETSTORE_BASE_URL: `${upstream.url}/v1`,
      SHUTDOWN_GRACE_MS: '600000',
    });
    let isDropped = false;
    send(started.url).catch(() => {
      isDropped = true;
    });
    await upstream.pending;
    started.kill('SIGTERM');
    await refusesConnections(started);
    // npm forwards each signal, so within half a second a second one counts as the same.
    const again = () => {
      if (!isDropped) started.kill('SIGTERM');
      expect(isDropped).toBe(true);
    };
    await vi.waitFor(again, { interval: 100 });
    expect(await started.exited).toBe(1);
  });

  it('exits when npm receives the signal', async () => {
    await using started = await npmStart({ DATABASE_URL: ':memory:' });
    process.kill(started.pid, 'SIGTERM');
    expect(await started.exited).toBe(0);
    expect(started.output.stderr).toContain('"msg":"shut down"');
    await expect(fetch(`${started.url}/livez`)).rejects.toThrow();
  });

  it.each(['1', '2'])('exits with 0 while %s processes wait for a database', async (WORKERS) => {
    const connected = Promise.withResolvers<Socket>();
    await using database = await startServer(createServer(connected.resolve));
    const DATABASE_URL = database.url.replace('http', 'postgres');
    const env = { WORKERS, DATABASE_URL, ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '600000' };
    await using launched = await nodeLaunch(env);
    await connected.promise;
    process.kill(launched.pid, 'SIGTERM');
    expect(await launched.exited).toBe(0);
    // It does not wait until connecting times out.
    expect(launched.output.stderr).not.toContain('cannot be opened');
  });

  it('exits with 0 while it waits for a lock of its database', async () => {
    const path = join(folder, 'locked.db');
    using other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE; CREATE TABLE other (id INTEGER)');
    await using launched = await nodeLaunch({ DATABASE_URL: `file:${path}` });
    await vi.waitFor(() => expect(launched.output.stderr).toContain('waiting for a lock'));
    process.kill(launched.pid, 'SIGTERM');
    // It could start now.
    other.exec('ROLLBACK');
    expect(await launched.exited).toBe(0);
  });

  it('waits at most a second for a trace collector that never responds, and logs it once', async () => {
    await using collector = await startUpstream(() => {});
    await using started = await nodeStart({
      DATABASE_URL: ':memory:',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      SHUTDOWN_GRACE_MS: '600000',
    });
    await (await send(started.url)).text();
    const begin = performance.now();
    started.kill('SIGTERM');
    expect(await started.exited).toBe(0);
    // The exporter itself would wait for ten seconds and try again.
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(started.output.stderr.match(/"msg":"traces are not exported"/g)).toHaveLength(1);
    expect(started.output.stderr).toContain('"msg":"shut down"');
  });
});

describe('a gateway that reloads its files', () => {
  it('changes nothing if one of them is invalid', async () => {
    using authority = createAuthority();
    const [first, other] = [authority.issue('IP:127.0.0.1'), authority.issue('IP:127.0.0.1')];
    const manifest = join(folder, 'manifest.json');
    const write = (document: string) =>
      writeFileSync(manifest, JSON.stringify({ [hash('sha256', document)]: document }));
    const [before, after] = ['{ pets { id } }', '{ pets { name } }'];
    write(before);
    const env = {
      DATABASE_URL: ':memory:',
      DEMO: 'on',
      PORT: '0',
      TLS_CERT_FILE: first.certFile,
      TLS_KEY_FILE: first.keyFile,
      PERSISTED_DOCUMENTS: 'only',
      PERSISTED_DOCUMENTS_FILE: manifest,
    };
    await using opened = new AsyncDisposableStack();
    const service = await serve(loadConfig(env), openTelemetry());
    opened.defer(() => service.stop(AbortSignal.abort()));
    const { ca } = authority;
    const send = async (document: string) => {
      const body = JSON.stringify({ documentId: hash('sha256', document) });
      const init = { method: 'POST', headers, body } as const;
      const dispatcher = new Agent({ connect: { ca } });
      const response = await request(`${service.url}/graphql`, { ...init, dispatcher });
      return response.body.json();
    };
    expect(await send(before)).toHaveProperty('data.pets');
    write(after);
    const next = loadConfig({ ...env, TLS_KEY_FILE: other.keyFile });
    await expect(service.reload(next)).rejects.toThrow('TLS_KEY_FILE: expected the key');
    expect(await send(before)).toHaveProperty('data.pets');
    await service.reload(loadConfig(env));
    expect(await send(after)).toHaveProperty('data.pets');
    expect(await send(before)).not.toHaveProperty('data.pets');
  });
});

describe('a gateway with a closed standard output', () => {
  it('keeps serving, and logs that it could not write its banner', async () => {
    const child = spawn(process.execPath, [await commandPath()], {
      env: { PORT: '0', DATABASE_URL: ':memory:' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const exited = once(child, 'exit');
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    await vi.waitFor(() => expect(log).toContain('could not write the banner'));
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(log).toContain('"msg":"shut down"');
  });
});

describe('a gateway with a full disk', () => {
  it('rejects writes with an Error body, and keeps serving reads', async () => {
    // The shell limits the size of every file that the process writes to 300 KiB.
    const env = { DATABASE_URL: `file:${folder}/full.db`, DEMO: 'on' };
    await using started = await nodeStart(env, 300);
    const name = 'x'.repeat(1000);
    const added: string[] = [];
    const full = await vi.waitUntil(
      async () => {
        try {
          added.push(await addPet(started.url, name));
          return undefined;
        } catch (error) {
          return error as Error;
        }
      },
      { interval: 1 },
    );
    expect(full.message).toBe(
      '503 {"code":"unavailable","message":"The store\'s database cannot be read or written. Nothing was stored. Try again later.","status":503}',
    );
    const query = `mutation { addPet(input: { name: "${name}", categoryId: 1 }) { id } }`;
    const graphql = await fetch(graphqlRequest(started.url, { query }));
    const message = expect.stringContaining('Nothing was stored.');
    const errors = [{ message, extensions: { code: 'UPSTREAM_UNAVAILABLE' } }];
    expect(await graphql.json()).toMatchObject({ data: { addPet: null }, errors });
    const list = await fetch(`${started.url}/v1/pets?limit=100`, { headers });
    const ids = (await list.json()).map(({ id }: { id: number }) => String(id));
    expect(ids.slice(12)).toEqual(added.slice(0, 88));
    await vi.waitFor(() => expect(started.output.stderr).toContain('"msg":"database fault"'));
  });
});
