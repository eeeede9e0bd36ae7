import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { vi } from 'vitest';
import type { Certificate } from './authority.ts';
import { freePort } from './postgres.ts';
import { isInstalled } from './program.ts';
import { startServer } from './server.ts';

/** Whether tinyproxy is installed (Debian package `tinyproxy-bin`). */
export const hasTinyproxy = isInstalled('tinyproxy', '-v');

/**
 * Starts a proxy that connects each CONNECT and each absolute URL to its host, and records the bytes
 * that it receives. `established` is its status for a tunnel, and `respond` replaces its response.
 */
export async function startProxy({
  established = '200 Connection established',
  respond,
  certificate,
}: {
  readonly established?: string;
  readonly respond?: (socket: Socket) => void;
  readonly certificate?: Certificate;
} = {}) {
  const received: Buffer[] = [];
  const heads: string[] = [];
  const accept = (client: Socket) => {
    client.on('error', () => {}).on('data', (chunk: Buffer) => received.push(chunk));
    client.once('data', (chunk: Buffer) => {
      const head = chunk.toString('latin1');
      heads.push(head);
      if (respond) return respond(client);
      const [, method, target = ''] = /^(\w+) (\S+)/.exec(head) ?? [];
      const url = new URL(method === 'CONNECT' ? `http://${target}` : target);
      const service = connect(Number(url.port), url.hostname, () => {
        if (method === 'CONNECT') client.write(`HTTP/1.1 ${established}\r\n\r\n`);
        else service.write(chunk);
        client.pipe(service).pipe(client);
      });
      service.on('error', () => client.destroy());
      client.once('close', () => service.destroy());
    });
  };
  const server = await startServer(
    certificate ? createTlsServer(certificate, accept) : createServer(accept),
  );
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${server.port}`,
    /** The requests that it received, one per connection. */
    heads,
    /** All bytes that it received, as text. */
    received: () => Buffer.concat(received).toString('latin1'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Runs tinyproxy with a credential on a free port. */
export async function startTinyproxy(user: string, password: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tinyproxy-'));
  const [config, log] = [join(folder, 'tinyproxy.conf'), join(folder, 'tinyproxy.log')];
  const port = await freePort();
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', `LogFile "${log}"`, 'LogLevel Connect'];
  writeFileSync(config, [...lines, `BasicAuth ${user} ${password}`, ''].join('\n'));
  const child = spawn('tinyproxy', ['-d', '-c', config], { stdio: 'ignore' });
  const exited = once(child, 'close');
  await vi.waitFor(() => once(connect(port, '127.0.0.1'), 'connect'));
  return {
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
