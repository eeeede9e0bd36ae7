import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** Whether nginx is installed; Debian's package is `nginx-light`. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

/** A line of the access log of `deploy/nginx.conf`. */
export interface BalancedRequest {
  readonly requestId: string;
  readonly status: number;
  /** The gateways that were tried, as `host:port`, the last one last. */
  readonly gateways: readonly string[];
}

/** Runs `deploy/nginx.conf` in front of these gateways, on a socket in a folder of its own. */
export async function startNginx(gateways: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-nginx-'));
  // As root, nginx's workers run as a user of their own, who must get in here.
  await chmod(folder, 0o755);
  const socketPath = join(folder, 'nginx.sock');
  const config = join(folder, 'nginx.conf');
  const source = await readFile(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
  await writeFile(config, adapt(source, gateways, socketPath));
  const child = spawn('nginx', ['-p', folder, '-c', config, '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const exited = once(child, 'close');
  await Promise.race([
    vi.waitFor(() => access(socketPath), { timeout: 10_000 }),
    exited.then(() => {
      throw new Error(`nginx did not start: ${stderr}`);
    }),
  ]);
  const stop = async () => {
    child.kill('SIGQUIT');
    await exited;
  };
  const workers = () =>
    spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter(Boolean);
  return {
    socketPath,
    /** Balances these gateways from now on: resolves when no request goes to any other. */
    async balance(remaining: readonly string[]): Promise<void> {
      await writeFile(config, adapt(source, remaining, socketPath));
      const before = workers();
      child.kill('SIGHUP');
      // Workers of the old configuration finish what they have, and end.
      await vi.waitFor(
        () => {
          const now = workers();
          if (now.length === 0 || now.some((pid) => before.includes(pid))) {
            throw new Error('workers of the old configuration are still there');
          }
        },
        { timeout: 20_000 },
      );
    },
    /** Ends nginx and tells what went through it. */
    async finish(): Promise<BalancedRequest[]> {
      await stop();
      const lines = (await readFile(join(folder, 'access.log'), 'utf8')).trim().split('\n');
      return lines.map((line) => {
        const { requestId, status, gateway } = JSON.parse(line);
        return { requestId, status, gateways: gateway.split(', ') };
      });
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Other gateways, another place to listen, and a log in the folder: all else is as it ships. */
function adapt(source: string, gateways: readonly string[], socketPath: string): string {
  return source
    .replace(/ *server gateway:4000.*\n/, (line) =>
      gateways.map((url) => line.replace('gateway:4000', new URL(url).host)).join(''),
    )
    .replace('listen 8080;', `listen unix:${socketPath};`)
    .replace('/dev/stdout', 'access.log');
}
