import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import { mutate } from './mutant.ts';
import { rooms } from './rooms.ts';

describe('the mutants', () => {
  it.each(Object.entries(rooms))('of %s apply to the code as it is', (_room, files) => {
    for (const { file, test, mutants } of files) {
      const text = readFileSync(file, 'utf8');
      for (const mutant of mutants) {
        const mutated = mutate(text, mutant);
        expect(() => stripTypeScriptTypes(mutated), mutant.promise).not.toThrow();
        expect([mutant.promise, existsSync(mutant.test ?? test)]).toEqual([mutant.promise, true]);
      }
    }
  });

  it('have to apply once', () => {
    const mutant = { promise: 'One', old: 'a', new: 'b' };
    expect(mutate('a', mutant)).toBe('b');
    expect(() => mutate('aa', mutant)).toThrow('One: expected once, found 2 times: a');
    expect(() => mutate('', mutant)).toThrow('One: expected once, found 0 times: a');
  });
});
