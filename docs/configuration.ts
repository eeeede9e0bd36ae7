import { readFileSync } from 'node:fs';
import { documentedVariables } from '../src/config/variables.ts';

/** A codegen plugin that writes the table of docs/configuration.md: every variable with its default. */
export function plugin(): string {
  const rows = documentedVariables().map(([name, { fallback, accepts, meaning }]) => {
    const standard = typeof fallback === 'string' ? `\`${fallback}\`` : 'unset';
    return `| \`${name}\` | ${standard} | ${meaning} | ${accepts} |\n`;
  });
  const table = `| variable | default | meaning | accepts |\n|---|---|---|---|\n${rows.join('')}`;
  const page = readFileSync(new URL('configuration.md', import.meta.url), 'utf8');
  return page.replace(/(?<=^<!-- configuration -->\n).*?(?=^<!-- \/configuration)/ms, () => table);
}
