import { readFile } from 'node:fs/promises';
import { graphql } from 'graphql';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { plugin as print } from '../../schema/print.ts';
import { markedOperations } from '../../schema/stability.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { fieldOfOperation } from '../../src/graphql/stability.ts';

const readOpenApi = async () =>
  parse(await readFile(new URL('../../schema/openapi.yaml', import.meta.url), 'utf8'));

describe('an operation that is marked with x-stability', () => {
  it.each(['experimental', 'beta'])('is found in the OpenAPI document as %s', async (level) => {
    const openApi = await readOpenApi();
    openApi.paths['/pets'].post['x-stability'] = level;
    expect(markedOperations(openApi)).toEqual({ createPet: level });
  });

  it('is refused at another level', async () => {
    const openApi = await readOpenApi();
    openApi.paths['/pets'].post['x-stability'] = 'alpha';
    expect(() => markedOperations(openApi)).toThrow(
      'x-stability of createPet: expected experimental or beta, received alpha.',
    );
  });

  it('has a field, and the field has the directive', () => {
    const marked = createSchema({ listPets: 'beta', getPet: 'experimental' });
    const sdl = print(marked);
    expect(sdl).toMatch(/^directive @stability\([^)]*level: String!\n\) on FIELD_DEFINITION$/m);
    expect(sdl).toContain('): [Pet!] @stability(level: "beta")\n');
    expect(sdl).toMatch(/\): Pet @deprecated\(.*\) @stability\(level: "experimental"\)\n/);
    expect(sdl.match(/@stability\(level/g)).toHaveLength(2);
  });

  it('is told in the description of its field, for all who introspect', async () => {
    const { data } = await graphql({
      schema: createSchema({ sendMessage: 'beta' }),
      source: '{ __type(name: "Mutation") { fields { name description } } }',
    });
    expect(data).toMatchObject({
      __type: {
        fields: [
          { name: 'addPet', description: expect.not.stringContaining('Stability') },
          {
            name: 'sendMessage',
            description:
              'Sends a message to the messages endpoint; `status` tells whether it was only queued.\n\nStability: beta.',
          },
        ],
      },
    });
  });

  it('must have a field', () => {
    expect(() => createSchema({ feedPet: 'beta' })).toThrow(
      'x-stability: expected a field for feedPet, found none.',
    );
  });
});

describe('the operations of the OpenAPI document', () => {
  it('have a field each', async () => {
    const { paths } = await readOpenApi();
    const ids = Object.values<Record<string, { operationId?: string }>>(paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId }) => operationId ?? []);
    expect(Object.keys(fieldOfOperation).toSorted()).toEqual(ids.toSorted());
    const all = Object.fromEntries(ids.map((id) => [id, 'beta' as const]));
    expect(print(createSchema(all)).match(/@stability\(level/g)).toHaveLength(ids.length);
  });

  it('leave the schema as it is while none is marked', () => {
    expect(print(createSchema({}))).not.toContain('tability');
  });
});
