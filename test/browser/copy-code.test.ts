import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, vi } from 'vitest';
import { browserTest } from '../support/browser.ts';
import { createConsumer } from '../support/consumer.ts';
import { copiedText, openGraphiql, openTab } from '../support/graphiql.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const formats = ['curl', 'fetch', 'Apollo Client', 'urql', 'gateway.execute'] as const;
type Format = (typeof formats)[number];

const strict =
  '--strict --noEmit --skipLibCheck --module nodenext --target esnext --lib esnext,dom --types node'.split(
    ' ',
  );

/** A project with the packages that the code imports. */
const project = await createConsumer().project({
  ours: ['graphql', '@apollo/client', 'rxjs', '@urql/core', 'wonka', '@types/node', 'undici-types'],
  hasGateway: true,
});

/** Copies the operation of the tab in a format. */
async function copy(page: Page, format: Format): Promise<string> {
  await page.getByLabel('Copy the operation').selectOption(format);
  await page.getByText(`Copied as ${format}.`).waitFor();
  return copiedText(page);
}

/** Pastes code into a file, and runs it. */
async function paste(code: string, url: string, format: Format): Promise<string> {
  const [command, file] = format === 'curl' ? ['sh', 'copied.sh'] : ['node', `${format}.ts`];
  await writeFile(join(project.root, file), code);
  return project.shell([`PETSTORE_BASE_URL=${url}/v1 LOG_LEVEL=silent ${command} '${file}'`]);
}

describe('the code that GraphiQL copies', () => {
  browserTest('runs as it is, in each format', async () => {
    await using opened = await openGraphiql();
    const { page, url } = opened;
    for (const format of formats) {
      await openTab(page, 'ListPets');
      const list = await copy(page, format);
      if (/Apollo|urql|execute/.test(format)) expect(list).toMatch(/^\/\/ .*npm /);
      expect(list).not.toMatch(/#|parseJson/);
      expect(await paste(list, url, format), format).toContain('Biscuit');
      await openTab(page, 'AddPet');
      expect(await page.locator('#copy-status').innerText()).toBe('');
      const added = await paste(await copy(page, format), url, format);
      expect(added, format).toContain('9223372036854775807');
    }
    const files = formats.slice(1).map((format) => `${format}.ts`);
    expect(await project.tsc('7.0', ...strict, ...files)).toBe('');
    await openTab(page, 'DeferredStorefront');
    const deferred = await copy(page, 'Apollo Client');
    expect(await paste(deferred, url, 'Apollo Client')).toMatch(/Biscuit.*orders/s);
  });

  browserTest('has the document of the tab, with every digit', async () => {
    await using opened = await openGraphiql();
    const { page, url } = opened;
    const query =
      "# Left out\nquery Own($id: ID!) {\n  pet(id: $id) { name } # it's `$" +
      '{a}` \\ {\n  orders @include(if: false)\n}';
    const variables = '{ "id": 9007199254740993 } // one';
    await page.goto(`${url}/graphql?${new URLSearchParams({ query, variables })}`);
    await page.getByRole('tab', { name: 'Own', selected: true }).waitFor();
    for (const format of formats) {
      const code = await copy(page, format);
      expect(code).not.toContain('Left out');
      expect(code.includes('parseJson'), format).toBe(/fetch|Apollo|urql/.test(format));
      const output = await paste(code, url, format);
      expect(output, format).toContain('There is no pet with the id 9007199254740993.');
    }
  });

  browserTest('is that of the selected operation, if the format can select one', async () => {
    await using opened = await openGraphiql();
    const { page, url } = opened;
    const query = 'mutation Add { __typename } query Two { pets(limit: 1) { name } }';
    const link = new URLSearchParams({ query, operationName: 'Two' });
    await page.goto(`${url}/graphql?${link}`);
    await page.getByRole('tab', { selected: true }).waitFor();
    await page.locator('.graphiql-query-editor .view-lines').getByText('Two').waitFor();
    for (const format of ['curl', 'fetch'] as const) {
      expect(await paste(await copy(page, format), url, format)).toContain('Biscuit');
    }
    await page.getByLabel('Copy the operation').selectOption('urql');
    await page.getByText('Not copied. Expected one operation in this tab, found 2.').waitFor();
  });

  browserTest('has no code from a link in place of variables, or of an operation', async () => {
    await using opened = await openGraphiql();
    const { page, url } = opened;
    const links = [
      ['fetch', { query: '{ pets { id } }', variables: '{}, x: (globalThis.evil = 1)' }],
      ['urql', { query: 'query[fetch`//evil`] { pets { id } }' }],
    ] as const;
    for (const [format, link] of links) {
      await page.goto(`${url}/graphql?${new URLSearchParams(link)}`);
      await page.getByRole('tab', { selected: true }).waitFor();
      await page.locator('.graphiql-query-editor .view-lines').getByText('pets').first().waitFor();
      await page.getByLabel('Copy the operation').selectOption(format);
      await page.getByText('Not copied.').waitFor();
    }
  });
});
