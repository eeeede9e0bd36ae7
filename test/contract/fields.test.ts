import { expect, it } from 'vitest';
import { enumeration, int64, integer, text, timestamp } from '../../src/contract/fields.ts';
import { createListReader } from '../../src/contract/list-text.ts';
import { defineRecord } from '../../src/contract/record.ts';

it.each([
  ['int64', int64.inUrl, int64.example],
  ['text', text, text.example],
  ['timestamp', timestamp, timestamp.example],
  ['enumeration', enumeration(['a', 'b']), 'a'],
  ['integer', integer(2, 5), integer(2, 5).example],
] as const)('the example of the kind %s is valid', (_name, kind, example) => {
  expect(kind?.parse(example)).toBe(example);
});

it('a word of an enumeration is matched as it is', () => {
  const state = { name: 'state', kind: enumeration(['a.b', 'c']), isRequired: true } as const;
  const read = createListReader({ listOf: defineRecord('one', 'all', { state }), maximum: 2 });
  expect([...read('[{"state":"a.b"},{"state":"c"}]')]).toEqual([{ state: 'a.b' }, { state: 'c' }]);
  expect(() => read('[{"state":"axb"}]')).toThrow('[0].state: expected one of a.b, c');
});
