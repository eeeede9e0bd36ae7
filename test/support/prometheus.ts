import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, startProgram } from './program.ts';

/** Whether Prometheus is installed (Debian package `prometheus`). */
export const hasPrometheus = isInstalled('prometheus');

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
  const files = [`--config.file=${folder}/prometheus.yaml`, `--storage.tsdb.path=${folder}/data`];
  const args = [...files, '--web.listen-address=127.0.0.1:0'];
  // Until it is ready, it responds with 503.
  const ready = /msg="Listening on" address=(\S+).*Server is ready/s;
  const program = await startProgram('prometheus', args, ready);
  const url = `http://${program.match[1]}`;
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
      await program.stop('SIGTERM');
      await rm(folder, { recursive: true });
    },
  };
}
