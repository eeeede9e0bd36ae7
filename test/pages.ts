import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The pages of the repository that a person reads, and the changelog. */
export const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'packages/client/README.md',
  ...globSync(['docs/**/*.md', 'examples/*.md', 'examples/*/*.md'], {
    cwd: root,
    exclude: ['**/node_modules'],
  }).toSorted(),
];

/** Reads a page. */
export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The files that a page links to, from the root of the repository, each with an anchor or none. */
export function linksOf(
  page: string,
  text: string,
): { path: string; anchor: string | undefined }[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { path: path === '' ? page : relative(root, join(root, dirname(page), path)), anchor };
    });
}

/** Returns a sentence for each page below `docs` that no other page links to. */
export function findUnlinked(texts: ReadonlyMap<string, string>): string[] {
  const links = [...texts].flatMap(([page, text]) =>
    linksOf(page, text).flatMap(({ path }) => (path === page ? [] : [path])),
  );
  return [...texts.keys()]
    .filter((page) => page.startsWith('docs/') && !links.includes(page))
    .map((page) => `No page links to ${page}: add it to docs/README.md.`);
}

/** Returns a sentence for each of the two first commands that the section "Start" of README.md lacks. */
export function findLostCommands(readme: string): string[] {
  const start = /^## Start\n(.*?)^## /ms.exec(readme)?.[1] ?? '';
  return ['npm ci && npm start', 'npm ci && npm test']
    .filter((command) => !start.split('\n').includes(command))
    .map((command) => `README.md: the section "Start" lacks a block with "${command}".`);
}

if (import.meta.main) {
  const faults = [
    ...findUnlinked(new Map(pages.map((page) => [page, readPage(page)]))),
    ...findLostCommands(readPage('README.md')),
  ];
  if (faults.length > 0) {
    process.stderr.write(`${faults.join('\n')}\n`);
    process.exitCode = 1;
  }
}
