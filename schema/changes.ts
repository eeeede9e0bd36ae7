import { readFileSync } from 'node:fs';
import { BreakingChangeType, buildSchema, findSchemaChanges } from 'graphql';

/**
 * Lists the breaking changes between two schemas, as described by graphql-js, except those that the
 * changelog quotes under "Unreleased".
 */
export function unannouncedChanges(released: string, current: string, changelog: string): string[] {
  const [, unreleased = ''] = changelog.split(/^## /m);
  // The changelog can wrap the quoted sentences at any word.
  const announced = unreleased.replace(/\s+/g, ' ');
  const [before, after] = [released, current].map((sdl) =>
    buildSchema(sdl, { assumeValidSDL: true }),
  ) as [ReturnType<typeof buildSchema>, ReturnType<typeof buildSchema>];
  return findSchemaChanges(before, after)
    .filter(({ type }) => type in BreakingChangeType)
    .map(({ description }) => description)
    .filter((description) => !announced.includes(description));
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
  const changes = unannouncedChanges(
    read('released.graphql'),
    read('schema.graphql'),
    read('../CHANGELOG.md'),
  );
  if (changes.length > 0) {
    const lines = changes.map((change) => `- ${change}\n`).join('');
    process.stderr.write(
      `The schema breaks clients of the last release (schema/released.graphql). Undo these changes, or quote each of these sentences under "Unreleased" in CHANGELOG.md:\n${lines}`,
    );
    process.exitCode = 1;
  }
}
