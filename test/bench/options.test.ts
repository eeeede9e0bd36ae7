import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../bench/options.ts';
import { createFolder } from '../support/folder.ts';

describe('the options of the benchmark', () => {
  const folder = createFolder();

  it('measure all servers and write the chart of docs/performance.md by default', () => {
    expect(readOptions(['--json', 'bench.json'])).toMatchObject({
      stacks: { length: 7 },
      rounds: 7,
      seconds: 2,
      json: 'bench.json',
      svg: expect.stringMatching(/docs\/benchmark\.svg$/),
    });
  });

  it('compare only with the build of another checkout unless --only names other servers', () => {
    expect(() => readOptions(['--against', folder])).toThrow(
      `--against: expected a checkout with a build, but ${folder}/dist/bin/main.js does not exist.`,
    );
    mkdirSync(join(folder, 'dist/bin'), { recursive: true });
    writeFileSync(join(folder, 'dist/bin/main.js'), '');
    expect(readOptions(['--against', folder])).toMatchObject({
      stacks: [{ name: 'gateway' }, { name: 'against', title: `gateway of ${folder}` }],
      svg: undefined,
    });
    expect(readOptions(['--against', folder, '--only', 'yoga'])).toMatchObject({
      stacks: [{ name: 'yoga' }, { name: 'against' }],
    });
  });

  it('name the expected values in the error for an invalid one', () => {
    expect(() => readOptions(['--only', 'gateway,graphile'])).toThrow(
      /^--only: expected names from gateway, .*; received graphile\.$/,
    );
    expect(() => readOptions(['--rounds', '0'])).toThrow(
      '--rounds: expected a whole number from 1 to 9999; received 0.',
    );
    expect(() => readOptions(['--workload', 'pets-1'])).toThrow(/--workload/);
  });

  it('end the run with status 1 when wrk is not installed', () => {
    const env = { PATH: '/nonexistent' };
    const { status, stderr } = spawnSync(process.execPath, ['bench/main.ts'], { env });
    expect([status, String(stderr)]).toEqual([
      1,
      expect.stringMatching(
        /^Expected wrk, but it is not installed\. On Debian: apt-get install wrk\n/,
      ),
    ]);
  });
});
