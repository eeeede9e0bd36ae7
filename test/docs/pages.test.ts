import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { StorefrontDocument } from '../../packages/client/src/documents.ts';
import { gatewayErrorCodes } from '../../packages/client/src/errors.ts';
import { persistedHash } from '../../packages/client/src/persisted-hash.ts';
import type { Variable } from '../../src/config/variable.ts';
import { documentedVariables, variables } from '../../src/config/variables.ts';
import { findLostCommands, findUnlinked, linksOf, pages, readPage } from '../pages.ts';

const root = join(import.meta.dirname, '../..');
const read = (page: string) => readFile(join(root, page), 'utf8');

/** The anchors of a page's headings on GitHub. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('README.md', () => {
  it('has at most 8 kB', async () => {
    expect(Buffer.byteLength(await read('README.md'))).toBeLessThanOrEqual(8000);
  });

  it('starts with the commands that run the gateway and its tests', async () => {
    const readme = await read('README.md');
    expect(findLostCommands(readme)).toEqual([]);
    expect(findLostCommands(readme.replace('npm ci && npm test', 'npm run tests'))).toEqual([
      'README.md: the section "Start" lacks a block with "npm ci && npm test".',
    ]);
  });

  it('has the same defaults as the full table', async () => {
    const readme = await read('README.md');
    const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)];
    expect(rows.length).toBe(5);
    for (const [, name = '', fallback] of rows) {
      const all: Readonly<Record<string, Variable>> = variables;
      const fixed = all[name]?.fallback;
      expect(fallback, name).toBe(typeof fixed === 'string' ? `\`${fixed}\`` : 'unset');
    }
  });
});

describe('the packed README.md', () => {
  it('has no dead links', async () => {
    const command = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await promisify(execFile)('npm', command, { cwd: root });
    const [{ files }] = JSON.parse(stdout);
    const packed = files.map(({ path }: { path: string }) => path);
    const links = [...(await read('README.md')).matchAll(/\]\((?!http|#)([^)#]+)/g)];
    expect(links.length).toBeGreaterThan(10);
    expect(packed).toEqual(expect.arrayContaining(links.map(([, path]) => path)));
  });
});

describe('the documentation', () => {
  it('has no page that no other page links to', () => {
    const texts = new Map(pages.map((page) => [page, readPage(page)]));
    expect(findUnlinked(texts)).toEqual([]);
    texts.set('docs/clients/lost.md', '[itself](lost.md)');
    expect(findUnlinked(texts)).toEqual([
      'No page links to docs/clients/lost.md: add it to docs/README.md.',
    ]);
  });

  it('has at most 32 pages and 24,000 words', () => {
    const counted = pages.filter((page) => !/^(CHANGELOG|examples)/.test(page));
    const words = counted.flatMap((page) => readPage(page).match(/\S+/g) ?? []);
    const inDocs = counted.filter((page) => page === 'README.md' || page.startsWith('docs/'));
    expect(inDocs.length).toBeLessThanOrEqual(32);
    expect(words.length).toBeLessThanOrEqual(24_000);
  });

  it.each(pages)('%s has no broken links', async (page) => {
    for (const { path, anchor } of linksOf(page, await read(page))) {
      await expect(stat(join(root, path)), path).resolves.toBeDefined();
      if (anchor !== undefined) expect(anchorsOf(await read(path)), path).toContain(anchor);
    }
  });

  it('refers only to tests that exist', async () => {
    const text = await read('docs/reliability.md');
    const names = [...text.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) await expect(stat(join(root, name))).resolves.toBeDefined();
  });
});

describe('docs/configuration.md', () => {
  it('names every variable, and the files of secrets', async () => {
    const text = await read('docs/configuration.md');
    for (const [name] of documentedVariables()) expect(text).toContain(`\`${name}\``);
  });
});

describe('docs/errors.md', () => {
  it('lists every error code that clients know', async () => {
    const text = await read('docs/errors.md');
    const table = /\| `extensions\.code` \| when \|\n(.*?)\n\n/s.exec(text)?.[1] ?? '';
    const rows = table.split('\n').map((row) => row.split('|')[1] ?? '');
    const codes = rows.join().match(/[A-Z_]{3,}/g) ?? [];
    expect(codes.toSorted()).toEqual(gatewayErrorCodes.toSorted());
  });
});

describe('docs/persisted-documents.md', () => {
  it('sends the hash of a document in the manifest', async () => {
    const text = await read('docs/persisted-documents.md');
    expect(text).toContain(`documentId=${persistedHash(StorefrontDocument)}`);
  });
});

describe('examples/README.md', () => {
  it('has a line for each example', async () => {
    const text = await read('examples/README.md');
    const entries = await readdir(join(root, 'examples'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const rows = [...text.matchAll(/^\| \[`(\w+)`\]/gm)].map(([, name]) => name);
    expect(rows.toSorted()).toEqual(folders.toSorted());
  });
});
