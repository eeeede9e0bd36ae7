import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ListPetsDocument } from '../packages/client/src/documents.ts';
import { gatewayErrorCodes } from '../packages/client/src/errors.ts';
import { persistedHash } from '../packages/client/src/persisted-hash.ts';
import { type Variable, variables } from '../src/variables.ts';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  it('lists every variable with its default, as the code has them', () => {
    const documented = /<!-- configuration -->\n(.*)<!-- \/configuration -->/s.exec(readme)?.[1];
    const rows = Object.entries<Variable>(variables).map(
      ([name, { fallback, accepts, meaning }]) =>
        `| \`${name}\` | ${fallback === undefined ? 'unset' : `\`${fallback}\``} | ${meaning} | ${accepts} |\n`,
    );
    expect(documented).toBe(
      `| variable | default | meaning | accepts |\n|---|---|---|---|\n${rows.join('')}`,
    );
  });

  it('lists every error code that clients know', () => {
    const table = /\| `extensions\.code` \| when \|\n(.*?)\n\n/s.exec(readme)?.[1] ?? '';
    const rows = table.split('\n').map((row) => row.split('|')[1] ?? '');
    expect(
      rows
        .join()
        .match(/[A-Z_]{3,}/g)
        ?.toSorted(),
    ).toEqual(gatewayErrorCodes.toSorted());
  });

  it('asks for a document that its manifest has', () => {
    expect(readme).toContain(`documentId=${persistedHash(ListPetsDocument)}`);
  });
});
