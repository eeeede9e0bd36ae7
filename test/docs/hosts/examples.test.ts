import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { blocksOf } from '../../support/blocks.ts';
import { packClient, packGateway } from '../../support/consumer.ts';
import { createFolder } from '../../support/folder.ts';
import { startIn } from '../../support/process.ts';
import { installEnv, registryTest } from '../../support/registry.ts';

const run = promisify(execFile);
const examples = join(import.meta.dirname, '../../../examples');
const parent = createFolder();
const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);

const installed: readonly (readonly [name: string, passed: number, install: string])[] = [
  ['federation', 14, 'install --prefer-offline --no-audit'],
  ['mcp', 37, 'ci --prefer-offline'],
  ['yoga', 3, 'install --prefer-offline --no-audit'],
];

registryTest.each(installed)(
  'examples/%s compiles and passes its tests with the packed packages',
  async (name, passed, install) => {
    const folder = join(parent, name);
    const isOurs = (path: string) => !/\/(?:node_modules|data)$/.test(path);
    await cp(join(examples, name), folder, { recursive: true, filter: isOurs });
    await packGateway(folder);
    await packClient(folder);
    const options = { cwd: folder, env: { ...installEnv, PATH } };
    const { stderr } = await run('npm', install.split(' '), options);
    expect(stderr).not.toMatch(/peer|ERESOLVE/i);
    const { stdout } = await run('npm', ['test'], options);
    expect(stdout).toMatch(new RegExp(`^ℹ pass ${passed}$`, 'm'));
    expect(stdout).toMatch(/^ℹ fail 0$/m);
    if (name !== 'federation') return;

    const [, curl, json] = await blocksOf('examples/federation/README.md', 'Start');
    await using server = await startIn(folder, ['main.ts'], {});
    const command = curl?.block.replace('http://127.0.0.1:4000', server.url) ?? '';
    expect((await run('sh', ['-c', command])).stdout).toBe(json?.block.trimEnd());
    server.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  },
  1_200_000,
);
