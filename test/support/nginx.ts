import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, vi } from 'vitest';
import { isInstalled } from './program.ts';

/** Whether nginx is installed (Debian package `nginx-light`). */
export const hasNginx = isInstalled('nginx', '-v');

/** A test that needs nginx. */
export const nginxTest = it.skipIf(!hasNginx);

/** A line of the access log of `deploy/nginx.conf`. */
interface BalancedRequest {
  readonly requestId: string;
  readonly status: number;
  /** The gateways that nginx tried, as `host:port`, in order. */
  readonly gateways: readonly string[];
}

/** Runs nginx with `deploy/nginx.conf`, edited, in front of these gateways, on a Unix socket. */
export async function startNginx(
  gateways: readonly string[],
  edit = (shipped: string): string => shipped,
) {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-nginx-'));
  // Under root, nginx's workers run as another user, who needs access to this folder.
  await chmod(folder, 0o755);
  const socketPath = join(folder, 'nginx.sock');
  const config = join(folder, 'nginx.conf');
  const file = new URL('../../deploy/nginx.conf', import.meta.url);
  const source = edit(await readFile(file, 'utf8'));
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
    vi.waitFor(() => access(socketPath)),
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
    /** Reloads nginx with these gateways. Resolves when no request goes to any other gateway. */
    async balance(remaining: readonly string[]): Promise<void> {
      await writeFile(config, adapt(source, remaining, socketPath));
      const before = workers();
      child.kill('SIGHUP');
      // Workers of the old configuration finish their requests and exit.
      await vi.waitFor(
        () => {
          const now = workers();
          if (now.length === 0 || now.some((pid) => before.includes(pid))) {
            throw new Error('Workers of the old configuration are still running.');
          }
        },
        { timeout: 20_000 },
      );
    },
    /** Stops nginx and returns the requests from its access log. */
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

/** Replaces the gateways, the listen address and the log path. Everything else stays as shipped. */
function adapt(source: string, gateways: readonly string[], socketPath: string): string {
  return source
    .replace(/ *server gateway:4000.*\n/, (line) =>
      gateways.map((url) => line.replace('gateway:4000', new URL(url).host)).join(''),
    )
    .replace('listen 8080;', `listen unix:${socketPath};`)
    .replace('/dev/stdout', 'access.log');
}
