import { type Administration, type BackendOptions, openAdministration } from '../backends/open.ts';
import type { Log } from '../telemetry/log.ts';

/** What a command did: a text for people, and the same as JSON for programs. */
export interface Outcome {
  readonly text: string;
  readonly json: unknown;
}

/** Something that is done to the built-in backend's database, with the command's arguments. */
export type AdministrativeWork = (
  administration: Administration,
  ...args: readonly string[]
) => Promise<Outcome | undefined>;

/**
 * Opens the database of the configuration, does the work and closes it again.
 * @throws when the configuration names a REST service, whose database this is not.
 */
export async function administer(
  { backend }: { readonly backend: BackendOptions },
  log: Log,
  work: AdministrativeWork,
  args: readonly string[],
): Promise<Outcome | undefined> {
  if (backend.kind === 'rest') {
    throw new Error(
      "This is for the built-in backend's database, but a REST service is configured: unset PETSTORE_BASE_URL, PETSTORE_STAGING_BASE_URL and PETSTORE_ENVIRONMENT.",
    );
  }
  const administration = await openAdministration(backend.databaseUrl, log);
  try {
    return await work(administration, ...args);
  } finally {
    await administration[Symbol.asyncDispose]();
  }
}
