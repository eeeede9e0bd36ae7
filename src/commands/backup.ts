import { backUp } from '../backends/open.ts';
import type { Environment } from '../variables.ts';
import { printOutcome, readBuiltinConfig } from './administer.ts';
import type { ShowProgress } from './transfer.ts';

/**
 * Backs up the configured SQLite database to a new file. Unlike other commands, it does not migrate
 * the database, because one backs up before an upgrade.
 * @throws if there is nothing to back up to or from; for PostgreSQL, with the command to run.
 */
export async function runBackup(
  env: Environment,
  file: string,
  options: { readonly json?: true },
  showProgress: ShowProgress,
): Promise<void> {
  const { databaseUrl } = readBuiltinConfig(env);
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  const bytes = await backUp(databaseUrl, file, (written, part) =>
    showProgress(megabytes(written), part),
  );
  const text = `Backed up the database to ${file} (${megabytes(bytes)} MB).\n`;
  printOutcome({ text, json: { file, bytes } }, options);
}
