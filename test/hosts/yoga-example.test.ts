import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { packGateway } from '../support/consumer.ts';
import { installEnv, registryTest } from '../support/registry.ts';

const run = promisify(execFile);
const example = fileURLToPath(new URL('../../examples/yoga', import.meta.url));

registryTest(
  'examples/yoga compiles and passes its tests with the packed package',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pet-store-yoga-'));
    const isOurs = (path: string) => !path.endsWith('/node_modules');
    await cp(example, folder, { recursive: true, filter: isOurs });
    await packGateway(folder);
    const options = { cwd: folder, env: installEnv };
    const { stderr } = await run('npm', ['install', '--prefer-offline', '--no-audit'], options);
    expect(stderr).not.toMatch(/peer|ERESOLVE/i);
    expect((await run('npm', ['test'], options)).stdout).toMatch(/pass 3\b/);
    await rm(folder, { recursive: true });
  },
  300_000,
);
