import { describe, expect, it } from 'vitest';
import { unannouncedChanges } from '../../schema/changes.ts';

const released = 'type Query { pet(id: ID!): String  pets: [ID!] }';
const changelog = (line: string) =>
  `# Changelog\n\n## Unreleased\n\n- ${line}\n\n## 0.1.0\n\n- Field Query.pet was removed.\n`;

describe('the check of schema changes', () => {
  it('names what breaks clients of the last release', () => {
    const current = 'type Query { pets(status: Int!): [ID!] }';
    expect(unannouncedChanges(released, current, changelog('Faster.'))).toEqual([
      'Field Query.pet was removed.',
      'A required argument Query.pets(status:) was added.',
    ]);
  });

  it('lets pass what adds to the schema', () => {
    const current = 'type Query { pet(id: ID!): String  pets: [ID!]  orders: Int }';
    expect(unannouncedChanges(released, current, changelog('Orders.'))).toEqual([]);
  });

  it('lets pass what the changelog announces, over two lines too', () => {
    const current = 'type Query { pets: [ID!] }';
    const announced = changelog('Breaking: Field Query.pet\n  was removed. Use `pets`.');
    expect(unannouncedChanges(released, current, announced)).toEqual([]);
  });
});
