import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { isInstalled } from '../support/program.ts';

const unit = fileURLToPath(
  new URL('../../deploy/systemd/petstore-gateway.service', import.meta.url),
);
const hasSystemd = isInstalled('systemd-analyze');
if (!hasSystemd) process.stdout.write('The test of the unit is SKIPPED: install systemd.\n');

describe('the systemd unit', () => {
  it.skipIf(!hasSystemd)('is valid, and exposes little', () => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit]);
    const [, exposure] =
      /exposure level for petstore-gateway\.service: (\S+)/.exec(String(stdout)) ?? [];
    expect(Number(exposure)).toBeLessThan(1.8);
    // Its command is not installed here.
    const { stderr } = spawnSync('systemd-analyze', ['verify', unit]);
    expect(String(stderr).trim()).toMatch(
      /^(?:petstore-gateway\.service: Command .* is not executable.*)?$/,
    );
  });

  it('gives a shutdown its grace period, and the connections of a process their descriptors', () => {
    const text = readFileSync(unit, 'utf8');
    const setting = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(text)?.[1]);
    expect(setting('TimeoutStopSec')).toBeGreaterThan(loadConfig({}).shutdownGraceMs / 1000);
    expect(setting('LimitNOFILE')).toBeGreaterThan(2 * 5000);
  });
});
