import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@redis/client';
import type { Certificate } from './authority.ts';
import { freePort } from './postgres.ts';

/** Whether Redis is installed (Debian package `redis-server`). */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Starts a Redis server in memory, which accepts only TLS if it has a certificate. */
export async function startRedis(settings: { password?: string; certificate?: Certificate } = {}) {
  const { password = '', certificate } = settings;
  const port = await freePort();
  const tls = certificate && {
    port: '0',
    'tls-port': String(port),
    'tls-cert-file': certificate.certFile,
    'tls-key-file': certificate.keyFile,
    'tls-ca-cert-file': certificate.certFile,
    'tls-auth-clients': 'no',
  };
  const common = { port: String(port), bind: '127.0.0.1', save: '', requirepass: password };
  const all = { ...common, ...tls };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  let child = await run(args);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `redis://127.0.0.1:${port}`;
  return {
    url,
    /** Stops the process without ending it, as a machine does that hangs. */
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    async kill(): Promise<void> {
      const exited = once(child, 'exit');
      kill();
      await exited;
    },
    /** Starts it again on the same port, empty. */
    async restart(): Promise<void> {
      child = await run(args);
    },
    /** Sends a command and returns the reply. */
    async send(...command: string[]): Promise<unknown> {
      const client = createClient({ url });
      await client.connect();
      return client.sendCommand(command).finally(() => client.destroy());
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      kill();
      await exited;
    },
  };
}

async function run(args: readonly string[]) {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ready = Promise.withResolvers<void>();
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    log += chunk;
    if (log.includes('Ready to accept connections')) ready.resolve();
  });
  once(child, 'exit').then(() => ready.reject(new Error(`Redis did not start: ${log}`)));
  await ready.promise;
  return child;
}
