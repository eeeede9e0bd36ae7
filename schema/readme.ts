import { readFileSync } from 'node:fs';
import { Kind, parse, print, printSchema, visit } from 'graphql';
import { schema } from '../src/petstore/graphql/schema.ts';

const omitted: readonly string[] = [
  Kind.SCHEMA_DEFINITION,
  Kind.DIRECTIVE_DEFINITION,
  Kind.SCALAR_TYPE_DEFINITION,
];

/**
 * A codegen plugin that writes the schema block of README.md: all types, without descriptions. It
 * reads the schema itself, because codegen's is sorted.
 */
export function plugin(): string {
  const { definitions } = visit(parse(printSchema(schema), { noLocation: true }), {
    enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
  });
  const types = definitions.filter(({ kind }) => !omitted.includes(kind)).map(print);
  const roots = ['Query', 'Mutation'].map((name) =>
    types.find((type) => type.startsWith(`type ${name} `)),
  );
  const others = types.filter((type) => !roots.includes(type));
  const lines = others.map((type) => type.replaceAll(/\s+/g, ' '));
  const block = [...roots, lines.join('\n')].join('\n\n');
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  return readme.replace(/(?<=^## Schema\n\n```graphql\n).*?(?=^```)/ms, () => `${block}\n`);
}
