import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openApiJson } from '../../src/v1/reference.ts';

const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));

/** The result of checking the responses that passed through the proxy. */
export interface ValidationResult {
  readonly responses: number;
  /** The violations of the OpenAPI document. */
  readonly problems: readonly string[];
}

/** The parts of Redocly's report that are used here. */
interface Report {
  readonly run: { readonly totalExchanges: number };
  readonly problems: readonly Readonly<
    Record<'target' | 'method' | 'path' | 'status' | 'message', string>
  >[];
}

/**
 * Starts an independent validator between clients and a service: Redocly's proxy, which forwards
 * all traffic unchanged and checks every response against the OpenAPI document.
 */
export async function startResponseValidator(serviceUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'pet-store-validator-'));
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
    // No usage telemetry and no check for updates.
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
    closed.then(
      () => reject(new Error(`Redocly's proxy did not start:\n${lines.join('\n')}`)),
      reject,
    );
  });

  return {
    /** The address of the proxy. */
    url,
    /** Stops the proxy and returns its result. */
    async result(): Promise<ValidationResult> {
      child.kill('SIGINT');
      const { run, problems } = JSON.parse(await report) as Report;
      return {
        responses: run.totalExchanges,
        problems: problems
          // Tests send invalid requests on purpose.
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
