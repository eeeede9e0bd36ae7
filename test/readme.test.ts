import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Variable, variables } from '../src/config.ts';

describe('the README', () => {
  it('lists every variable with its default, as the code has them', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const documented = /<!-- configuration -->\n(.*)<!-- \/configuration -->/s.exec(readme)?.[1];
    const rows = Object.entries<Variable>(variables).map(
      ([name, { fallback, accepts, meaning }]) =>
        `| \`${name}\` | ${fallback === undefined ? 'unset' : `\`${fallback}\``} | ${meaning} | ${accepts} |\n`,
    );
    expect(documented).toBe(
      `| variable | default | meaning | accepts |\n|---|---|---|---|\n${rows.join('')}`,
    );
  });
});
