import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Reads the code blocks of a section of a page, in order. */
export async function blocksOf(page: string, section: string) {
  const text = await readFile(join(root, page), 'utf8');
  const found =
    text.split(/^#+ (?:\d+\. )?/m).find((candidate) => candidate.startsWith(`${section}\n`)) ?? '';
  return [...found.matchAll(/^```(\w*)\n(.*?)```/gms)].map(([, language = '', block = '']) => ({
    language,
    block,
  }));
}

/** Reads the files of a section: the code blocks below a line with only the name of a file. */
export async function filesOf(page: string, section: string): Promise<Record<string, string>> {
  const text = await readFile(join(root, page), 'utf8');
  const found = text
    .split(/^## (?:\d+\. )?/m)
    .find((candidate) => candidate.startsWith(`${section}\n`));
  const files = [...(found ?? '').matchAll(/^`([^`\n]+)`:\n\n```\w+\n(.*?)```/gms)];
  return Object.fromEntries(files.map(([, name = '', content = '']) => [name, content]));
}
