import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether Prometheus is installed (Debian package `prometheus`). */
export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

/** Starts a Prometheus that scrapes one gateway and evaluates these rules four times per second. */
export async function startPrometheus(job: string, target: string, rules: string) {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-prometheus-'));
  await writeFile(join(folder, 'rules.yaml'), rules);
  const config = {
    global: { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '250ms' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: job, static_configs: [{ targets: [target] }] }],
  };
  // JSON is valid YAML.
  await writeFile(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yaml`,
      `--storage.tsdb.path=${folder}/data`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(child, 'close');
  const address = Promise.withResolvers<string>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
    // Until it is ready, it responds with 503.
    const [, found] = /msg="Listening on" address=(\S+).*Server is ready/s.exec(stderr) ?? [];
    if (found !== undefined) address.resolve(found);
  });
  exited.then(() => address.reject(new Error(`Prometheus did not start: ${stderr}`)));
  const url = `http://${await address.promise}`;
  const get = async (path: string) => {
    const response = await fetch(`${url}/api/v1/${path}`);
    const { status, data, error } = await response.json();
    if (status !== 'success') throw new Error(error);
    return data;
  };
  return {
    /** The number of series that an expression returns now. @throws on invalid PromQL. */
    async query(expression: string): Promise<number> {
      return (await get(`query?query=${encodeURIComponent(expression)}`)).result.length;
    },
    /** The names of the alerts that are firing now. */
    async firing(): Promise<Set<string>> {
      const { alerts } = await get('alerts');
      return new Set(
        alerts
          .filter(({ state }: { readonly state: string }) => state === 'firing')
          .map(({ labels }: { readonly labels: Record<string, string> }) => labels['alertname']),
      );
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}
