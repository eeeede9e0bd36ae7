import { readFileSync } from 'node:fs';
import type { Variable } from '../src/config/variable.ts';
import { variables } from '../src/config/variables.ts';

/** What a number, a switch or a base URL accepts. */
const evident =
  /^a whole number from [^,]*$|^the path of a PEM file$|^(?:on|off|otlp|true)\b|^an http or https URL without /;

/** A codegen plugin that writes the list of docs/configuration.md: every variable with its default. */
export function plugin(): string {
  const lines = Object.entries<Variable>(variables).map(
    ([name, { fallback, accepts, meaning }]) => {
      const standard = typeof fallback === 'string' ? `; default \`${fallback}\`` : '';
      const accepted = evident.test(accepts) ? '' : ` (${accepts})`;
      return `- \`${name}\`: ${meaning}${accepted}${standard}\n`;
    },
  );
  const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');
  return page.replace(/(?<=^<!-- configuration -->\n).*?(?=^<!-- \/configuration)/ms, () =>
    lines.join(''),
  );
}
