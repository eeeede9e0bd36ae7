import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { blocksOf } from '../support/blocks.ts';
import { createFolder } from '../support/folder.ts';
import { copySources, gatewayFiles } from '../support/packages.ts';
import { shellStart } from '../support/process.ts';
import { registryTest } from '../support/registry.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const run = promisify(execFile);
const image = ['Dockerfile', '.dockerignore', '.npmrc', 'package-lock.json'];

let checkout: string;
let version: string;
const git = (...args: string[]) => run('git', args, { cwd: checkout });
const release = (...args: string[]) =>
  run('npm', ['run', '--silent', 'release', '--', ...args], { cwd: checkout });
const read = (file: string) => readFile(join(checkout, 'release', file), 'utf8');

beforeAll(async () => {
  const others = [...image, 'packages/release.ts', 'CHANGELOG.md', '.gitignore'];
  checkout = await copySources('.', [...gatewayFiles, ...others]);
  version = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')).version;
  await writeFile(
    join(checkout, 'CHANGELOG.md'),
    `# Changelog\n\n## Unreleased\n\n- New.\n\n## ${version} - 2026-11-22\n\n- Old.\n`,
  );
  await writeFile(join(checkout, '.gitignore'), 'node_modules\ndist/\nrelease/\n');
  await git('init', '--quiet');
  await git('config', 'user.name', 'A maintainer');
  await git('config', 'user.email', 'maintainer@pets.example');
  await release('--dry-run');
});
afterAll(() => rm(checkout, { recursive: true }));

describe('npm run release -- --dry-run', () => {
  const context = createFolder();
  const folder = createFolder();

  it('writes both packages, the build context of the image, its materials, the changes and the checksums', async () => {
    expect((await readdir(join(checkout, 'release'))).toSorted()).toEqual([
      'CHANGES.md',
      'SHA256SUMS',
      `petstore-gateway-${version}.cdx.json`,
      `petstore-gateway-${version}.tgz`,
      `petstore-gateway-client-${version}.tgz`,
      `petstore-gateway-image-${version}.tar.gz`,
    ]);
    expect(await read('CHANGES.md')).toBe('- New.\n');
    const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], {
      cwd: join(checkout, 'release'),
    });
    expect(stdout.match(/: OK$/gm)?.length).toBe(5);
    const materials = JSON.parse(await read(`petstore-gateway-${version}.cdx.json`));
    const { devDependencies } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'));
    const { undici } = devDependencies;
    expect(materials).toMatchObject({ bomFormat: 'CycloneDX' });
    expect(materials.components).toContainEqual(
      expect.objectContaining({ name: 'undici', purl: `pkg:npm/undici@${undici}` }),
    );
  });

  it('packs every file that the Dockerfile copies', async () => {
    const tarball = join(checkout, `release/petstore-gateway-image-${version}.tar.gz`);
    await run('tar', ['-xzf', tarball, '-C', context]);
    const files = await readdir(context, { recursive: true });
    const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
    const names = copied.flatMap(([, paths = '']) => paths.split(' '));
    expect(names.length).toBeGreaterThan(6);
    expect(files).toEqual(expect.arrayContaining(names));
    expect(files).not.toContain('node_modules');
  });

  registryTest('packs and starts the gateway as the README says', async () => {
    const [pack, start] = await blocksOf('README.md', 'Packages');
    const command = (pack?.block ?? '').replace('..', folder);
    await run('bash', ['-ec', command], { cwd: checkout });
    const path = (process.env['PATH'] ?? '').split(':');
    // In place of the clone, whose parent folder has the packages.
    const clone = join(folder, 'clone');
    await mkdir(clone);
    await using started = await shellStart(clone, start?.block ?? '', {
      PATH: path.filter((entry) => !entry.includes('node_modules')).join(':'),
      npm_config_cache: join(folder, 'cache'),
    });
    expect(started.output).toMatchObject({ stderr: expect.not.stringContaining('npm') });
    const headers = { authorization: 'Bearer demo-key' };
    const response = await fetch(`${started.url}/graphql?query={pets(limit:1){name}}`, {
      headers,
    });
    expect(await response.json()).toEqual({ data: { pets: [{ name: 'Biscuit' }] } });
    started.kill('SIGINT');
    await started.exited;
    await expect(fetch(started.url)).rejects.toThrow();
  });
});

describe('npm run release', () => {
  it('requires a section of the version, the released files, and a commit', async () => {
    await expect(release()).rejects.toMatchObject({
      stderr: `Expected the section "${version}" first in CHANGELOG.md, received "Unreleased".\n`,
    });
    const changelog = `# Changelog\n\n## Unreleased\n\n## ${version} - 2026-11-22\n\n- Old.\n`;
    await writeFile(join(checkout, 'CHANGELOG.md'), changelog);
    for (const [released, current] of [
      ['schema/released.graphql', 'schema/schema.graphql'],
      [
        'packages/client/released/persisted-documents.json',
        'packages/client/persisted-documents.json',
      ],
    ] as const) {
      await writeFile(join(checkout, released), 'old');
      await expect(release()).rejects.toMatchObject({
        stderr: `Expected ${released} to equal ${current}: copy it, then commit.\n`,
      });
      await copyFile(join(checkout, current), join(checkout, released));
    }
    await expect(release()).rejects.toMatchObject({
      stderr: 'Expected a commit without local changes.\n',
    });
  });

  it('tags the commit, and writes the changes of the version', async () => {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'Release');
    await release();
    expect(await read('CHANGES.md')).toBe('- Old.\n');
    expect((await git('tag', '--points-at', 'HEAD')).stdout).toBe(`v${version}\n`);
  });
});
