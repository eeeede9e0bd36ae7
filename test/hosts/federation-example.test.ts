import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { blocksOf } from '../support/blocks.ts';
import { packGateway } from '../support/consumer.ts';
import { startIn } from '../support/process.ts';
import { installEnv, registryTest } from '../support/registry.ts';

const run = promisify(execFile);
const example = fileURLToPath(new URL('../../examples/federation', import.meta.url));

registryTest(
  'examples/federation compiles, passes its tests and starts with the packed package',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pet-store-federation-'));
    const isOurs = (path: string) => !/\/(?:node_modules|data)$/.test(path);
    await cp(example, folder, { recursive: true, filter: isOurs });
    await packGateway(folder);
    const options = { cwd: folder, env: installEnv };
    const { stderr } = await run('npm', ['install', '--prefer-offline', '--no-audit'], options);
    expect(stderr).not.toMatch(/peer|ERESOLVE/i);
    expect((await run('npm', ['test'], options)).stdout).toMatch(/pass 14\b/);

    const [, curl, json] = await blocksOf('examples/federation/README.md', 'Start');
    await using server = await startIn(folder, ['main.ts'], {});
    const command = curl?.block.replace('http://127.0.0.1:4000', server.url) ?? '';
    expect((await run('sh', ['-c', command])).stdout).toBe(json?.block.trimEnd());
    server.kill('SIGTERM');
    expect(await server.exited).toBe(0);
    await rm(folder, { recursive: true });
  },
  300_000,
);
