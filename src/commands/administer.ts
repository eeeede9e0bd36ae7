import { type Administration, type BackendOptions, openAdministration } from '../backends/open.ts';
import type { Log } from '../telemetry/log.ts';

/** The result of a command: text for people, and the same information as JSON. */
export interface Outcome {
  readonly text: string;
  readonly json: unknown;
}

/** A command's work on the built-in backend's database, with the command's arguments. */
export type AdministrativeWork = (
  administration: Administration,
  ...args: readonly string[]
) => Promise<Outcome | undefined>;

/**
 * Opens the configured database, runs the work and closes the database.
 * @throws if a REST service is configured, because the command needs the built-in backend.
 */
export async function administer(
  { backend }: { readonly backend: BackendOptions },
  log: Log,
  work: AdministrativeWork,
  args: readonly string[],
): Promise<Outcome | undefined> {
  if (backend.kind === 'rest') {
    throw new Error(
      'This command needs the built-in backend, but a REST service is configured. Unset PETSTORE_BASE_URL, PETSTORE_STAGING_BASE_URL and PETSTORE_ENVIRONMENT.',
    );
  }
  const administration = await openAdministration(backend.databaseUrl, log);
  try {
    return await work(administration, ...args);
  } finally {
    await administration[Symbol.asyncDispose]();
  }
}
