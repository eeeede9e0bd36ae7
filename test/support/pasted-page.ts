import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { filesIn } from './blocks.ts';
import { shellStart } from './process.ts';
import { installEnv } from './registry.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../..');

/** The blocks of commands in a text, except those that are a file. */
function blocksIn(text = ''): string[] {
  return [...text.matchAll(/(?<!`:\n\n)^```sh\n(.*?)\n```/gms)].map(([, block = '']) => block);
}

/**
 * Follows a page in the folder of the packed gateway: runs its first block of commands, writes its
 * files, and runs its other blocks except the last command, which starts the server.
 * @param section the section to follow after the text above the sections
 * @param copied files that the page only links to
 */
export async function pastePage(
  page: string,
  parent: string,
  { section, copied = {} }: { section?: string; copied?: Readonly<Record<string, string>> } = {},
) {
  const [above = '', ...sections] = (await readFile(join(repository, page), 'utf8')).split(/^## /m);
  const followed = sections.find((text) => text.startsWith(`${section}\n`));
  let folder = parent;
  const shell = async (script = '') => {
    await run('bash', ['-ec', script], { cwd: folder, env: installEnv });
    for (const [, to = ''] of script.matchAll(/(?:^|&& )cd (\S+)/gm)) folder = join(folder, to);
  };
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
  };
  const [setUp, ...blocks] = [...blocksIn(above), ...blocksIn(followed)];
  const [start = '', ...build] = blocks.pop()?.split('\n').toReversed() ?? [];
  await shell(setUp);
  await write({
    ...filesIn(section === undefined ? [above, ...sections].join('') : above),
    ...copied,
  });
  for (const block of blocks) await shell(block);
  await write(filesIn(followed));
  await shell(build.toReversed().join('\n'));
  return {
    folder,
    /** Runs the last command, on a free port. It receives signals directly, without npx. */
    start(env: Record<string, string>, more: readonly string[] = []) {
      const PATH = `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}`;
      const command = ['exec', start.replace(/^npx /, ''), ...more].join(' ');
      return shellStart(folder, command, { ...env, PATH });
    },
  };
}
