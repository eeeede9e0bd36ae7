import { describe, expect } from 'vitest';
import { checkAccessibility } from '../support/axe.ts';
import { browserTest } from '../support/browser.ts';
import { execute, openGraphiql } from '../support/graphiql.ts';

const rules = (findings: readonly string[]) =>
  [...new Set(findings.map((finding) => finding.split(' ').slice(0, 2).join(' ')))].toSorted();

describe('axe-core', { timeout: 120_000 }, () => {
  browserTest.each(['light', 'dark'] as const)(
    'finds nothing in what the gateway adds to GraphiQL, %s',
    async (colorScheme) => {
      await using graphiql = await openGraphiql({ introspection: false, explain: true });
      const { page, result } = graphiql;
      await page.emulateMedia({ colorScheme });
      await page.reload();
      await page.locator('.graphiql-query-editor').getByText('ListPets').waitFor();
      await page.getByRole('checkbox', { name: 'REST calls' }).check();
      await page.getByLabel('API key').fill('wrong-key');
      await execute(page);
      await result.getByText('"UNAUTHENTICATED"').waitFor();
      await page.evaluate(
        `showCalls([200, null].map((status) => ({ path: ['pets'], operation: 'listPets', method: 'GET',
          pathTemplate: '/pets', status, startMs: 0, durationMs: 1, retries: 0, bytes: 9, shared: false })))`,
      );
      await page.getByRole('region', { name: 'REST calls' }).locator('td').first().waitFor();
      // GraphiQL's own findings, which docs/graphiql.md lists: its tabs, and the colors of its editors.
      const own = '[role="tablist"], [role="tab"], .graphiql-tabs, [data-uri]';
      expect(await checkAccessibility(page, own)).toEqual([]);
      expect(rules(await checkAccessibility(page))).toEqual([
        'serious color-contrast',
        'serious nested-interactive',
      ]);
    },
  );
});
