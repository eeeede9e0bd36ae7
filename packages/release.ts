import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run release [-- --dry-run]

Writes to release/: both packages, the build context of the image, a bill of materials (CycloneDX) of what
is built into them and of the tools, the changelog's section and the checksums. Then tags the commit; pushing the tag publishes. With --dry-run, it does not tag, and the
section may be "Unreleased".
`;
const root = join(import.meta.dirname, '..');
const folder = join(root, 'release');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** The heading and the text of the changelog's first section that has entries. */
function latestSection(changelog: string): { heading: string; text: string } {
  for (const section of changelog.split(/^## /m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n');
    const text = lines.join('\n').trim();
    if (text !== '') return { heading, text };
  }
  throw new Error('Expected a section with entries in CHANGELOG.md.');
}

/** The paths that the Dockerfile copies, which are the exceptions in .dockerignore. */
const imageFiles = () =>
  [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path = '']) => path);

/** What the next versions are compared with, and what it has to equal. */
const releasedFiles = [
  ['schema/released.graphql', 'schema/schema.graphql'],
  ['packages/client/released/persisted-documents.json', 'packages/client/persisted-documents.json'],
] as const;

function release(dryRun: boolean): void {
  const { version } = JSON.parse(read('package.json'));
  const { heading, text } = latestSection(read('CHANGELOG.md'));
  if (!dryRun && !heading.startsWith(`${version} `)) {
    throw new Error(
      `Expected the section "${version}" first in CHANGELOG.md, received "${heading}".`,
    );
  }
  for (const [released, current] of dryRun ? [] : releasedFiles) {
    if (read(released) !== read(current)) {
      throw new Error(`Expected ${released} to equal ${current}: copy it, then commit.`);
    }
  }
  if (!dryRun && run('git', 'status', '--porcelain') !== '') {
    throw new Error('Expected a commit without local changes.');
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  run('npm', 'pack', '--silent', '--pack-destination', folder);
  run('npm', 'pack', '--silent', '--pack-destination', folder, '--workspace', 'packages/client');
  const context = join(folder, `petstore-gateway-image-${version}.tar.gz`);
  run('tar', '-czf', context, 'Dockerfile', '.dockerignore', ...imageFiles());
  const materials = run('npm', 'sbom', '--package-lock-only', '--sbom-format=cyclonedx');
  writeFileSync(join(folder, `petstore-gateway-${version}.cdx.json`), materials);
  writeFileSync(join(folder, 'CHANGES.md'), `${text}\n`);
  const sums = readdirSync(folder).map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  if (!dryRun) run('git', 'tag', `v${version}`);
  process.stdout.write(
    `release/ of version ${version}, with the changes of "${heading}":\n${sums.join('')}`,
  );
}

if (import.meta.main) {
  const options = { 'dry-run': { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  try {
    if (values.help) process.stdout.write(usage);
    else release(values['dry-run'] ?? false);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
