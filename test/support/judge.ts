import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openApiJson } from '../../src/v1/openapi.ts';

const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));

/** What a judge made of the responses that went through it. */
export interface Verdict {
  readonly responses: number;
  /** What the OpenAPI document has against them. */
  readonly problems: readonly string[];
}

/** Redocly's report, as far as it is read here. */
interface Report {
  readonly run: { readonly totalExchanges: number };
  readonly problems: readonly Readonly<
    Record<'target' | 'method' | 'path' | 'status' | 'message', string>
  >[];
}

/**
 * Starts a judge that nobody here wrote between clients and a service: Redocly's proxy, which passes
 * everything on as it is and holds every response against the OpenAPI document.
 */
export async function startJudge(serviceUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-judge-'));
  const document = join(folder, 'openapi.json');
  await writeFile(document, await openApiJson());
  const options = {
    target: serviceUrl,
    port: '0',
    har: join(folder, 'traffic.har'),
    api: document,
    'match-mode': 'basepath',
    rules: 'schema-consistency',
    format: 'json',
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, [redocly, 'proxy', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // It would tell its maker of its use, and ask whether it is the newest.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  const closed = once(child, 'close');
  const report = text(child.stdout);
  const url = await new Promise<string>((resolve, reject) => {
    const lines: string[] = [];
    createInterface(child.stderr).on('line', (line) => {
      lines.push(line);
      const [, listening] = /listening on (http:\S+)/.exec(line) ?? [];
      if (listening !== undefined) resolve(listening);
    });
    closed.then(() => reject(new Error(`The judge did not start:\n${lines.join('\n')}`)), reject);
  });

  return {
    /** Where the service is reached through the judge. */
    url,
    /** Ends the judge. */
    async verdict(): Promise<Verdict> {
      child.kill('SIGINT');
      const { run, problems } = JSON.parse(await report) as Report;
      return {
        responses: run.totalExchanges,
        problems: problems
          // What clients of a test send wrongly is their own business.
          .filter(({ target }) => target === 'response')
          .map(({ method, path, status, message }) => `${method} ${path} ${status}: ${message}`),
      };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
      await rm(folder, { recursive: true });
    },
  };
}
