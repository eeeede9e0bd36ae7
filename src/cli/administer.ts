import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { type Administration, openAdministration } from '../petstore/open.ts';
import { createLog } from '../telemetry/log.ts';

/** The result of a command: text for people, and the same information as JSON. */
export interface CommandResult {
  readonly text: string;
  readonly json: unknown;
}

/** A command that works on the built-in backend's database. */
export interface AdministrativeCommand {
  readonly usage: string;
  readonly description: string;
  /** The value of a `<duration>` is in milliseconds. */
  readonly options?: readonly (readonly [flags: string, description: string])[];
  /** Whether it may create a database in a file. */
  readonly creates?: true;
  /** The work, with the command's arguments and options. */
  work(administration: Administration, ...args: unknown[]): Promise<CommandResult | undefined>;
}

/** Does the work on the configured database. @throws as `readBuiltinConfig` does. */
export async function administer(
  env: Environment,
  { work, creates }: Pick<AdministrativeCommand, 'work' | 'creates'>,
  args: readonly unknown[],
  options: { readonly json?: true },
): Promise<void> {
  const { databaseUrl, log } = readBuiltinConfig(env);
  const file = /^file:(.+)/s.exec(databaseUrl)?.[1];
  const isMissing = file !== undefined && !existsSync(file);
  if (isMissing && !creates) throw new Error(`DATABASE_URL: there is no file ${resolve(file)}.`);
  const administration = await openAdministration(databaseUrl, log);
  if (isMissing) process.stderr.write(`Created the database ${resolve(file)}.\n`);
  const result = await work(administration, ...args).finally(() =>
    administration[Symbol.asyncDispose](),
  );
  if (result !== undefined) printResult(result, options);
}

/** Reads the configuration of the built-in backend. @throws if a REST service is configured. */
export function readBuiltinConfig(env: Environment) {
  const { backend, logLevel } = loadConfig(env);
  if (backend.kind === 'rest') {
    throw new Error(
      'This command needs the built-in backend, but a REST service is configured. Unset PETSTORE_BASE_URL, PETSTORE_STAGING_BASE_URL and PETSTORE_ENVIRONMENT.',
    );
  }
  return { databaseUrl: backend.databaseUrl, log: createLog(logLevel, process.stderr) };
}

/** Prints the result of a command. */
export function printResult(result: CommandResult, options: { readonly json?: true }): void {
  process.stdout.write(options.json ? `${JSON.stringify(result.json)}\n` : result.text);
}
