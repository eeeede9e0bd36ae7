import { buildSchema, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { findOmissions } from '../../schema/declarations.ts';
import { readSources, type Sources } from '../../schema/sources.ts';

const sources = await readSources();
const openApi = JSON.stringify(sources.openApi);
const sdl = printSchema(sources.schema);

describe('the check of declarations', () => {
  it('finds nothing that was forgotten', () => {
    expect(findOmissions(sources)).toEqual([]);
    expect(sources.schema.description).toContain('Authorization: Bearer');
  });

  it.each<[string, Partial<Sources>, string[]]>([
    [
      'the id of an operation',
      { openApi: JSON.parse(openApi.replace('"listOrders"', '"orders"')) },
      [
        'schema/openapi.yaml lacks listOrders: GET /store/orders.',
        'src/petstore/operations.ts lacks orders: GET /store/orders.',
      ],
    ],
    [
      'the type of a field',
      {
        openApi: JSON.parse(
          openApi.replaceAll('"type":"integer","format":"int64"', '"type":"string"'),
        ),
      },
      [
        'schema/openapi.yaml lacks the required field categoryId of a pet (integer int64).',
        'src/petstore/records.ts lacks the required field categoryId of a pet (string).',
      ],
    ],
    [
      'a description in the OpenAPI document',
      { openApi: JSON.parse(openApi.replace(`"description":"The pet's name."`, '"a":1')) },
      ['schema/openapi.yaml lacks a description of NewPet.name.'],
    ],
    [
      'a migration',
      { columns: sources.columns.filter((name) => !name.includes('category_id')) },
      ['src/petstore/builtin/tables.ts lacks the column category_id of pets.'],
    ],
    [
      'the field of an operation',
      { schema: buildSchema(sdl.replace('orders: JSON', 'renamed: JSON')) },
      ['src/petstore/graphql lacks Query.orders.', 'schema/operations lacks Query.orders.'],
    ],
    [
      'a field in the fragment',
      { documents: sources.documents.replaceAll('  categoryId\n', '') },
      ['schema/fragments lacks Pet.categoryId.'],
    ],
    [
      'a field of another record in the documents',
      { documents: sources.documents.replaceAll('    createdAt\n', '') },
      ['schema/fragments lacks Message.createdAt.'],
    ],
  ])('names the file that lacks %s', (_, changed, omissions) => {
    expect(findOmissions({ ...sources, ...changed })).toEqual(omissions);
  });
});
