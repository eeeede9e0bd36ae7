import { readFile } from 'node:fs/promises';
import { executeSync, parse as parseDocument } from 'graphql';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { plugin as print } from '../../schema/print.ts';
import { markedOperations } from '../../schema/stability.ts';
import { createSchema } from '../../src/graphql/schema.ts';

const readOpenApi = async () =>
  parse(await readFile(new URL('../../schema/openapi.yaml', import.meta.url), 'utf8'));

describe('an operation with x-stability', () => {
  it.each(['experimental', 'beta'])('is read from the OpenAPI document as %s', async (level) => {
    const openApi = await readOpenApi();
    openApi.paths['/pets'].post['x-stability'] = level;
    expect(markedOperations(openApi)).toEqual({ createPet: level });
  });

  it('is rejected with another level', async () => {
    const openApi = await readOpenApi();
    openApi.paths['/pets'].post['x-stability'] = 'alpha';
    expect(() => markedOperations(openApi)).toThrow(
      'x-stability of createPet: expected experimental or beta, received alpha.',
    );
  });

  it('adds the directive to its field', () => {
    const marked = createSchema({ listPets: 'beta', getPet: 'experimental' });
    const sdl = print(marked);
    expect(sdl).toMatch(/^directive @stability\([^)]*level: String!\n\) on FIELD_DEFINITION$/m);
    expect(sdl).toContain('): [Pet!] @stability(level: "beta")\n');
    expect(sdl).toMatch(/\): Pet @deprecated\(.*\) @stability\(level: "experimental"\)\n/);
    expect(sdl.match(/@stability\(level/g)).toHaveLength(2);
  });

  it('adds its level to the description of its field, for introspection', () => {
    const { data } = executeSync({
      schema: createSchema({ sendMessage: 'beta' }),
      document: parseDocument('{ __type(name: "Mutation") { fields { name description } } }'),
    });
    expect(data).toMatchObject({
      __type: {
        fields: [
          { name: 'addPet', description: expect.not.stringContaining('Stability') },
          {
            name: 'sendMessage',
            description:
              'Sends a message to the messages endpoint. `status` is the state that the service reports.\n\nStability: beta.',
          },
        ],
      },
    });
  });

  it('is rejected without a field', () => {
    expect(() => createSchema({ feedPet: 'beta' })).toThrow(
      'x-stability: expected a field for feedPet, found none.',
    );
  });
});
