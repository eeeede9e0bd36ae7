import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { peers, type Stack } from './stacks.ts';

/**
 * Installs the packages of the peers, if one that these servers need is missing.
 * @throws when they cannot be installed.
 */
export function installPeers(stacks: readonly Stack[]): void {
  const missing = stacks.filter(({ packages }) => packages.some((name) => !existsSync(at(name))));
  // A package for other machines stays missing; its server reports the reason.
  const isInstalled = existsSync(join(peers, 'node_modules'));
  if (missing.every(({ unsupportedReason }) => unsupportedReason && isInstalled)) return;
  process.stderr.write('Installing the peers into bench/peers (about 600 MB)...\n');
  const { status } = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: peers,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status === 0) return;
  const titles = missing.map(({ title }) => title).join(', ');
  throw new Error(`Expected the packages of ${titles}, but npm ci in bench/peers failed.`);
}

/** The installed versions of the servers' packages, by package name. */
export function versionsOf(stacks: readonly Stack[]): Readonly<Record<string, string>> {
  const names = stacks.flatMap(({ packages }) => packages).filter((name) => existsSync(at(name)));
  return Object.fromEntries(
    names.map((name) => [name, JSON.parse(readFileSync(at(name), 'utf8')).version]),
  );
}

function at(name: string): string {
  return join(peers, 'node_modules', name, 'package.json');
}
