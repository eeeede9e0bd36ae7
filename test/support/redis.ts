import { readFileSync } from 'node:fs';
import { createClient } from '@redis/client';
import type { Certificate } from './authority.ts';
import { createFolder } from './folder.ts';
import { freePort } from './postgres.ts';
import { isInstalled, startProgram } from './program.ts';

/** Whether Redis is installed (Debian package `redis-server`). */
export const hasRedis = isInstalled('redis-server');

interface RedisSettings {
  readonly password?: string;
  readonly certificate?: Certificate;
  readonly host?: string;
  /** As in `redis.conf`. */
  readonly 'cluster-enabled'?: 'yes';
}

/** Starts a Redis server in memory, which accepts only TLS if it has a certificate. */
export async function startRedis(settings: RedisSettings = {}) {
  const { password = '', certificate, host = '127.0.0.1', ...others } = settings;
  const port = await freePort();
  const tls = certificate && {
    port: '0',
    'tls-port': String(port),
    'tls-cert-file': certificate.certFile,
    'tls-key-file': certificate.keyFile,
    'tls-ca-cert-file': certificate.certFile,
    'tls-auth-clients': 'no',
  };
  const common = { port: String(port), bind: host, save: '', requirepass: password };
  const folder = { dir: createFolder() };
  const all = { ...common, ...tls, ...folder, ...others };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  const start = () => startProgram('redis-server', args, /Ready to accept connections/);
  let program = await start();
  const url = `redis://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const send = async (...command: string[]): Promise<unknown> => {
    const client = createClient({ url });
    await client.connect();
    return client.sendCommand(command).finally(() => client.destroy());
  };
  return {
    url,
    /** Sends a command and returns the reply. */
    send,
    /** Limits its memory in bytes; 0 is no limit. */
    limit: (bytes: string) => send('CONFIG', 'SET', 'maxmemory', bytes),
    /** Creates a user with the permissions of docs/production.md. @returns the URL. */
    async permit(): Promise<string> {
      const page = readFileSync('docs/production.md', 'utf8');
      const [, permissions = ''] = /^user petstore on (.+)$/m.exec(page) ?? [];
      const rules = permissions.replace('PASSWORD', 'correct-horse').split(' ');
      await send('ACL', 'SETUSER', 'petstore', 'on', ...rules);
      const own = { username: 'petstore', password: 'correct-horse' };
      return Object.assign(new URL('/1', url), own).href;
    },
    /** Stops the process without ending it, as a machine does that hangs. */
    freeze: () => program.kill('SIGSTOP'),
    thaw: () => program.kill('SIGCONT'),
    kill: () => program.stop('SIGKILL'),
    /** Starts it again on the same port, empty. */
    async restart(): Promise<void> {
      program = await start();
    },
    [Symbol.asyncDispose]: () => program.stop('SIGKILL'),
  };
}
