import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { peers, type Stack } from './stacks.ts';

/** Installs the packages of the peers, unless they are there or none of these servers has any. */
export function installPeers(stacks: readonly Stack[]): void {
  const isWanted = stacks.some(({ packages }) => packages.length > 0);
  if (!isWanted || existsSync(join(peers, 'node_modules'))) return;
  process.stderr.write('Installing the peers, once ...\n');
  execFileSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: peers,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
