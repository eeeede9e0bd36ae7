import { readFileSync } from 'node:fs';
import { BreakingChangeType, buildSchema, findSchemaChanges } from 'graphql';
import { documentChanges } from './document-changes.ts';

/** Returns the breaking changes between two schemas, as described by graphql-js. */
export function breakingChanges(released: string, current: string): string[] {
  const [before, after] = [released, current].map((sdl) =>
    buildSchema(sdl, { assumeValidSDL: true }),
  ) as [ReturnType<typeof buildSchema>, ReturnType<typeof buildSchema>];
  return findSchemaChanges(before, after)
    .filter(({ type }) => type in BreakingChangeType)
    .map(({ description }) => description);
}

/** Returns a function that tells whether the changelog quotes a sentence under "Unreleased". */
export function announcedIn(changelog: string): (sentence: string) => boolean {
  const [, unreleased = ''] = changelog.split(/^## /m);
  // The changelog can wrap the quoted sentences at any word.
  const text = unreleased.replace(/\s+/g, ' ');
  return (sentence) => text.includes(sentence);
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
  const client = '../packages/client';
  const isAnnounced = announcedIn(read('../CHANGELOG.md'));
  const changes = [
    ...breakingChanges(read('released.graphql'), read('schema.graphql')),
    ...documentChanges(
      JSON.parse(read(`${client}/released/persisted-documents.json`)),
      JSON.parse(read(`${client}/persisted-documents.json`)),
    ),
  ].filter((sentence) => !isAnnounced(sentence));
  if (changes.length > 0) {
    const lines = changes.map((change) => `- ${change}\n`).join('');
    process.stderr.write(
      `The schema or the packaged documents break clients of the last release (schema/released.graphql, packages/client/released). Undo these changes, or quote each of these sentences under "Unreleased" in CHANGELOG.md:\n${lines}`,
    );
    process.exitCode = 1;
  }
}
