import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { packClient, packGateway } from '../support/consumer.ts';
import { installEnv, registryTest } from '../support/registry.ts';

const run = promisify(execFile);
const example = join(import.meta.dirname, '../../examples/mcp');

registryTest(
  'examples/mcp passes its own tests, installed from the packed packages',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pet-store-mcp-'));
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => rm(folder, { recursive: true }));
    const isOurs = (path: string) => !/\/node_modules$/.test(path);
    await cp(example, folder, { recursive: true, filter: isOurs });
    await packGateway(folder);
    await packClient(folder);
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const options = { cwd: folder, env: { ...installEnv, PATH } };
    await run('npm', ['ci', '--prefer-offline'], options);
    const { stdout } = await run('npm', ['test'], options);
    expect(stdout).toMatch(/^ℹ pass 37$/m);
    expect(stdout).toMatch(/^ℹ fail 0$/m);
  },
  1_200_000,
);
