import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const script = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

/**
 * Checks a page with axe-core. Returns its findings as "impact rule selector", one for each element, and
 * without those whose element is in `except`, a CSS selector.
 */
export async function checkAccessibility(page: Page, except = ':not(*)'): Promise<string[]> {
  // Evaluated by the debugger, because the page's Content-Security-Policy allows only its own scripts.
  await page.evaluate(await readFile(script, 'utf8'));
  return page.evaluate(
    `axe.run({ exclude: [${JSON.stringify(except)}] }).then(({ violations }) =>
      violations.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ target }) => [impact, id, ...target].join(' '))))`,
  );
}
