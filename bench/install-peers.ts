import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { peers, type Stack } from './stacks.ts';

/** Installs the packages of the peers, if one of these servers needs them and they are missing. */
export function installPeers(stacks: readonly Stack[]): void {
  const isWanted = stacks.some(({ packages }) => packages.length > 0);
  if (!isWanted || existsSync(join(peers, 'node_modules'))) return;
  process.stderr.write('Installing the peers (first run only)...\n');
  execFileSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: peers,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
