import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Reads the code blocks of a section of a page, in order. */
export async function blocksOf(page: string, section: string) {
  const text = await readFile(join(root, page), 'utf8');
  const found = text.split(/^#+ /m).find((candidate) => candidate.startsWith(`${section}\n`)) ?? '';
  return [...found.matchAll(/^```(\w*)\n(.*?)```/gms)].map(([, language = '', block = '']) => ({
    language,
    block,
  }));
}
