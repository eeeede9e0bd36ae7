import { describe, expect, it } from 'vitest';
import { announcedIn, breakingChanges } from '../../schema/changes.ts';

const released = 'type Query { pet(id: ID!): String  pets: [ID!] }';

describe('the check of schema changes', () => {
  it('lists changes that break clients of the last release', () => {
    const current = 'type Query { pets(status: Int!): [ID!] }';
    expect(breakingChanges(released, current)).toEqual([
      'Field Query.pet was removed.',
      'A required argument Query.pets(status:) was added.',
    ]);
  });

  it('allows additions to the schema', () => {
    const current = 'type Query { pet(id: ID!): String  pets: [ID!]  orders: Int }';
    expect(breakingChanges(released, current)).toEqual([]);
  });

  it.each([
    ['announces', 'Breaking: Field Query.pet\n  was removed. Use `pets`.', true],
    ['does not announce', 'Faster.', false],
  ])('reads that the changelog %s a change of the next release', (_, line, expected) => {
    const changelog = `# Changelog\n\n## Unreleased\n\n- ${line}\n\n## 0.1.0\n\n- Field Query.pet was removed.\n`;
    expect(announcedIn(changelog)('Field Query.pet was removed.')).toBe(expected);
  });
});
