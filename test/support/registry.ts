import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { it } from 'vitest';

const run = promisify(execFile);

/**
 * The environment of commands that install packages. It is the tests' own, because that says how to
 * reach the registry: proxies, certificates, npm's configuration.
 */
export const installEnv: NodeJS.ProcessEnv = {
  ...process.env,
  NEXT_TELEMETRY_DISABLED: '1',
  WRANGLER_SEND_METRICS: 'false',
  // Vitest's `test` would be that of the application.
  NODE_ENV: undefined,
};

/** Installs packages in an empty folder, if npm's registry can be reached. */
export async function installPackages(folder: string, packages: readonly string[]): Promise<void> {
  if (!hasRegistry) return;
  await writeFile(join(folder, 'package.json'), '{}');
  const install = ['install', '--ignore-scripts', '--no-audit', '--prefer-offline', ...packages];
  await run('npm', install, { cwd: folder, env: installEnv });
}

async function ping(): Promise<boolean> {
  try {
    await run('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=10000'], { env: installEnv });
    return true;
  } catch (error) {
    const { message } = error as Error;
    const reason = message.split('\n').find((line) => line.startsWith('npm error')) ?? message;
    process.stderr.write(`Tests that install packages are SKIPPED: no npm registry: ${reason}\n`);
    return false;
  }
}

/** Whether npm's registry can be reached. */
export const hasRegistry = await ping();

/** A test that installs packages. It is skipped, with a message, without npm's registry. */
export const registryTest = it.skipIf(!hasRegistry);
