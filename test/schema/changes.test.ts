import { describe, expect, it } from 'vitest';
import { unannouncedChanges } from '../../schema/changes.ts';

const released = 'type Query { pet(id: ID!): String  pets: [ID!] }';
const changelog = (line: string) =>
  `# Changelog\n\n## Unreleased\n\n- ${line}\n\n## 0.1.0\n\n- Field Query.pet was removed.\n`;

describe('the check of schema changes', () => {
  it('lists changes that break clients of the last release', () => {
    const current = 'type Query { pets(status: Int!): [ID!] }';
    expect(unannouncedChanges(released, current, changelog('Faster.'))).toEqual([
      'Field Query.pet was removed.',
      'A required argument Query.pets(status:) was added.',
    ]);
  });

  it('allows additions to the schema', () => {
    const current = 'type Query { pet(id: ID!): String  pets: [ID!]  orders: Int }';
    expect(unannouncedChanges(released, current, changelog('Orders.'))).toEqual([]);
  });

  it('allows changes that the changelog announces, even across two lines', () => {
    const current = 'type Query { pets: [ID!] }';
    const announced = changelog('Breaking: Field Query.pet\n  was removed. Use `pets`.');
    expect(unannouncedChanges(released, current, announced)).toEqual([]);
  });
});
