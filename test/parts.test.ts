import { readdirSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.ts';
import { parts } from './parts.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

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

  it('have a folder, a script, a place in test:all and a row in CONTRIBUTING.md', () => {
    const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
    for (const name of Object.keys(parts)) {
      expect(readdirSync(`test/${name}`)).not.toEqual([]);
      expect(scripts[`test:${name}`]).toContain(`vitest run --project ${name}`);
      expect(scripts['test:all'].split(' ')).toContain(`test:${name}`);
      expect(contributing).toContain(`| \`test/${name}\``);
    }
  });
});
