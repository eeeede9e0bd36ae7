import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Reads a section of a page, or the whole page. */
async function read(page: string, section?: string): Promise<string> {
  const text = await readFile(join(root, page), 'utf8');
  if (section === undefined) return text;
  return text.split(/^#+ (?:\d+\. )?/m).find((one) => one.startsWith(`${section}\n`)) ?? '';
}

/** Reads the code blocks of a section, in order. */
export async function blocksOf(page: string, section?: string) {
  const text = await read(page, section);
  return [...text.matchAll(/^```(\w*)\n(.*?)```/gms)].map(([, language = '', block = '']) => ({
    language,
    block,
  }));
}

/** Reads the blocks of commands of a section, in order. */
export async function commandsOf(page: string, section?: string): Promise<string[]> {
  const blocks = await blocksOf(page, section);
  return blocks.filter(({ language }) => language === 'sh').map(({ block }) => block);
}

/** Reads the files of a section: the code blocks below a line with only the name of a file. */
export async function filesOf(page: string, section?: string): Promise<Record<string, string>> {
  return filesIn(await read(page, section));
}

/** Reads the files of a text, as `filesOf`. */
export function filesIn(text = ''): Record<string, string> {
  const files = [...text.matchAll(/^`([^`\n]+)`:\n\n```\w+\n(.*?)```/gms)];
  return Object.fromEntries(files.map(([, name = '', content = '']) => [name, content]));
}
