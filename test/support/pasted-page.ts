import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { filesOf } from './blocks.ts';
import { shellStart } from './process.ts';
import { installEnv } from './registry.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../..');

/**
 * Follows a page in the folder of the packed gateway: runs its first block of commands, writes its
 * files, and runs the commands of its last block except the last one, which starts the server.
 * @param copied files that the page only links to
 */
export async function pastePage(
  page: string,
  parent: string,
  copied: Readonly<Record<string, string>> = {},
) {
  const text = await readFile(join(repository, page), 'utf8');
  // The blocks above the sections.
  const blocks = [...(text.split(/^## /m)[0] ?? '').matchAll(/^```sh\n(.*?)\n```/gms)];
  const commands = blocks.map(([, block = '']) => block.split('\n'));
  const [setUp = []] = commands;
  const [start = '', ...build] = commands.at(-1)?.toReversed() ?? [];
  const shell = (cwd: string, script: readonly string[]) =>
    run('bash', ['-ec', script.join('\n')], { cwd, env: installEnv });
  await shell(parent, setUp);
  const folder = join(parent, /cd (\S+)/.exec(setUp.join('\n'))?.[1] ?? '');
  for (const [path, content] of Object.entries({ ...(await filesOf(page)), ...copied })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await shell(folder, build.toReversed());
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
