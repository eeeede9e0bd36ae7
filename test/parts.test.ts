import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.ts';
import { parts } from './parts.ts';
import { tasks } from './tasks.ts';

describe('npm run dev', () => {
  const dev = (...args: string[]) =>
    spawnSync(process.execPath, ['test/dev.ts', ...args], { encoding: 'utf8' });

  it('runs a task with its arguments', () => {
    const { status, stdout } = dev('test:image', '--help');
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^Usage: npm run dev -- test:image/),
    ]);
  });

  it('lists the tasks instead of one that it does not know', () => {
    const { status, stderr } = dev('no-task');
    expect([status, stderr]).toEqual([2, dev('--help').stdout]);
    for (const name of Object.keys(tasks)) expect(stderr).toContain(`  ${name} `);
  });

  it('knows every step of npm run check', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const steps = scripts.check.match(/check:\w+/g);
    expect(Object.keys(tasks)).toEqual(expect.arrayContaining(steps));
  });
});

describe('the parts of the tests', () => {
  it('have each test file once', () => {
    const projects = (config.test?.projects ?? []).map((project) => {
      if (typeof project !== 'object' || !('test' in project))
        throw new Error('Expected an object');
      const { include = [], exclude = [] } = project.test ?? {};
      const matches = (globs: readonly string[], file: string) =>
        globs.some((glob) => matchesGlob(file, glob));
      return (file: string) => matches(include, file) && !matches(exclude, file);
    });
    const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:test|spec)\.\w+$/.test(file) && !file.includes('node_modules'))
      .map((file) => `test/${file}`);
    expect(files).toContain('test/parts.test.ts');
    for (const file of files) {
      expect([file, projects.filter((has) => has(file)).length]).toEqual([file, 1]);
    }
  });

  it('have a folder, a script, a place in test:all and an entry in CONTRIBUTING.md', () => {
    const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
    for (const name of Object.keys(parts)) {
      expect(readdirSync(`test/${name}`)).not.toEqual([]);
      expect(tasks[`test:${name}`]).toContain(`vitest run --project ${name}`);
      expect(tasks['test:all']?.split(' ')).toContain(`test:${name}`);
      expect(contributing).toContain(`- \`test/${name}\``);
    }
  });
});
