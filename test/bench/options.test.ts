import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../bench/options.ts';

describe('the options of the benchmark', () => {
  it('measure everything and write the chart of docs/performance.md by default', () => {
    const options = readOptions([]);
    expect(options).toMatchObject({ shapes: true, start: true, json: undefined });
    expect(options).toHaveProperty('svg', expect.stringMatching(/docs\/benchmark\.svg$/));
  });

  it('select servers and workloads by name, and then write no chart', () => {
    const options = readOptions(['--only', 'gateway, hive', '--workload', 'bff,start']);
    expect(options).toMatchObject({
      stacks: [{ name: 'gateway' }, { name: 'hive' }],
      workloads: [{ name: 'bff' }],
      start: true,
      svg: undefined,
    });
  });

  it('compare only with the build of another checkout unless --only names other servers', () => {
    const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
    expect(() => readOptions(['--against', folder])).toThrow(
      `--against: expected a checkout with a build, but ${folder}/dist/bin/main.js does not exist.`,
    );
    mkdirSync(join(folder, 'dist/bin'), { recursive: true });
    writeFileSync(join(folder, 'dist/bin/main.js'), '');
    expect(readOptions(['--against', folder])).toMatchObject({
      stacks: [{ name: 'gateway' }, { name: 'against', title: `petstore-gateway, ${folder}` }],
      plan: { servers: 5 },
      shapes: false,
      svg: undefined,
    });
    expect(readOptions(['--against', folder, '--only', 'yoga'])).toMatchObject({
      stacks: [{ name: 'yoga' }, { name: 'against' }],
    });
    rmSync(folder, { recursive: true });
  });

  it('list the known names in the error for an unknown name', () => {
    expect(() => readOptions(['--only', 'gateway,graphile'])).toThrow(
      /^--only: expected names from gateway, .*; received graphile\.$/,
    );
    expect(() => readOptions(['--workload', 'pets-7'])).toThrow(/received pets-7\.$/);
    expect(() => readOptions(['--rounds'])).toThrow(/--rounds/);
  });

  it('report an unknown server in the memory benchmark, too', () => {
    const { status, stderr } = spawnSync('node', ['bench/memory.ts', '--only', 'graphile']);
    expect([status, String(stderr)]).toEqual([
      1,
      expect.stringMatching(/^--only: expected names from gateway, .*; received graphile\.\n$/),
    ]);
  });
});
