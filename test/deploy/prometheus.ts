import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, startProgram } from '../support/program.ts';

/** Whether Prometheus is installed (Debian package `prometheus`). */
export const hasPrometheus = isInstalled('prometheus') && isInstalled('promtool');

/** The response to a query: the labels of each series, and its time and value. */
interface Response {
  readonly data: {
    readonly result: readonly {
      readonly metric: object;
      readonly value: readonly [number, string];
    }[];
  };
}

/** Runs Prometheus, which scrapes this address and evaluates these rules every second. */
export async function startPrometheus(job_name: string, target: string, rulesFile: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'pet-store-prometheus-'));
  const file = join(folder.path, 'prometheus.yaml');
  const global = { scrape_interval: '1s', evaluation_interval: '1s' };
  const scrape_configs = [{ job_name, static_configs: [{ targets: [new URL(target).host] }] }];
  await writeFile(file, JSON.stringify({ global, rule_files: [rulesFile], scrape_configs }));
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${folder.path}/data`];
  const { match, stop } = await startProgram(
    'prometheus',
    [...args, '--web.listen-address=127.0.0.1:0'],
    /msg="Listening on" address=(\S+)/,
  );
  return {
    /** Evaluates an expression. @returns the labels and the value of each series. */
    async query(expression: string) {
      const parameters = new URLSearchParams({ query: expression });
      const response = await fetch(`http://${match[1]}/api/v1/query?${parameters}`);
      const { data } = (await response.json()) as Response;
      return data.result.map(({ metric, value: [, value] }) => ({ metric, value }));
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
      await folder[Symbol.asyncDispose]();
    },
  };
}
