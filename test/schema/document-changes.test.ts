import { describe, expect, it } from 'vitest';
import { documentChanges } from '../../schema/document-changes.ts';

describe('the check of packaged documents', () => {
  it('lists fields that were added or removed, by their path in the response', () => {
    const released = {
      'sha256:a': 'query List { pets { ...Tile } } fragment Tile on Pet { __typename name: id }',
      'sha256:b': 'mutation Add { addPet { id } }',
    };
    const current = {
      'sha256:c':
        'query List { pets { ...Tile } ... @defer { orders } } fragment Tile on Pet { __typename id }',
      'sha256:d': 'query Other { orders }',
      ...released,
    };
    expect(documentChanges(released, current)).toEqual([
      'Field pets.id was added to the packaged document List.',
      'Field orders was added to the packaged document List.',
      'Field pets.name was removed from the packaged document List.',
    ]);
  });

  it('compares with the latest of several released documents of one name', () => {
    const newest = { 'sha256:b': 'query List { pets { id name } }' };
    const all = { ...newest, 'sha256:a': 'query List { pets { id } }' };
    expect(documentChanges(all, all)).toEqual([]);
  });
});
