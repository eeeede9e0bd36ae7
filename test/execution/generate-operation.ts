import {
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isUnionType,
} from 'graphql';
import { chance, type Generate, oneOf } from './generate-schema.ts';

const parameters = `($yes: Boolean!, $no: Boolean!, $n: Int, $id: ID = 9007199254740993, $in: In,
  $ids: [ID!] = [9007199254740993, "b"], $input: In = { big: -9007199254740995, lists: [[1], []] },
  $color: Color = BLUE)`;

const passedArguments: readonly string[] = [
  '',
  '(n: 1)',
  '(n: $n, id: $id)',
  '(id: 9007199254740993, e: RED)',
  '(e: $color, in: { n: $n, any: { deep: [$id] } })',
  '(in: $in, ids: $ids)',
  '(in: $input)',
  '(in: { lists: [[1, 2], []], in: { big: 9223372036854775807 } }, ids: ["a"])',
  '(ids: null, in: null)',
];

/** Generates an operation for a generated schema. The operation can be invalid. */
export function generateOperation(generate: Generate, schema: GraphQLSchema): string {
  const kind = oneOf(generate, ['query', 'mutation']);
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  const text = selectionSet(generate, schema, root as GraphQLObjectType, 0);
  const fragments = ['T0', 'T1', 'Node'].map((name) => {
    const type = schema.getType(name) as GraphQLCompositeType;
    return `fragment Of${name} on ${name} ${selectionSet(generate, schema, type, 3)}`;
  });
  const directive = chance(generate, 100) ? ' @experimental_disableErrorPropagation' : '';
  return `${kind} Generated${parameters}${directive} ${text}\n${fragments.join('\n')}`;
}

/** Generates values for the variables of generated operations. */
export function generateVariables(generate: Generate): Record<string, unknown> {
  const variables: Record<string, unknown> = {
    yes: chance(generate, 2),
    no: chance(generate, 2),
  };
  if (chance(generate, 2)) variables['n'] = oneOf(generate, [1, null]);
  if (chance(generate, 3)) variables['id'] = oneOf(generate, ['v', 9223372036854775807n, null]);
  if (chance(generate, 2)) variables['in'] = { n: null, lists: [1, [2, 3]], any: { x: 1n } };
  if (chance(generate, 3)) variables['ids'] = oneOf<unknown>(generate, [['x'], 'y', null]);
  if (chance(generate, 20)) variables['color'] = 'NONE';
  return variables;
}

function selectionSet(
  generate: Generate,
  schema: GraphQLSchema,
  type: GraphQLCompositeType,
  depth: number,
): string {
  const count = 1 + generate(4);
  const texts = Array.from({ length: count }, () => selection(generate, schema, type, depth));
  return `{ ${texts.join(' ')} }`;
}

function selection(
  generate: Generate,
  schema: GraphQLSchema,
  type: GraphQLCompositeType,
  depth: number,
): string {
  const condition = chance(generate, 8)
    ? ` @${oneOf(generate, ['skip', 'include'])}(if: ${oneOf(generate, ['$yes', '$no', 'true', 'false'])})`
    : '';
  const isRoot = depth === 0;
  if (chance(generate, 6) && depth < 4) {
    const conditions = isRoot ? [type.name] : [type.name, 'Node', 'Either', 'T0'];
    const on = oneOf(generate, ['', ...conditions]);
    const inner = on === '' ? type : (schema.getType(on) as GraphQLCompositeType);
    const set = selectionSet(generate, schema, inner, depth + 1);
    return `...${on && ` on ${on}`}${condition} ${set}`;
  }
  if (chance(generate, 8) && depth < 3 && !isRoot) {
    return `...Of${oneOf(generate, ['T0', 'T1', 'Node'])}${condition}`;
  }
  if (chance(generate, 12) || isUnionType(type)) return `__typename${condition}`;
  const field = oneOf(generate, Object.values(type.getFields()));
  const named = getNamedType(field.type);
  if (isCompositeType(named) && depth > 4) return `__typename${condition}`;
  const alias = chance(generate, 6) ? `${oneOf(generate, ['a', 'b', 'then', '__proto__'])}: ` : '';
  const args = field.args.length > 0 ? oneOf(generate, passedArguments) : '';
  const set = isCompositeType(named) ? selectionSet(generate, schema, named, depth + 1) : '';
  return `${alias}${field.name}${args}${condition} ${set}`;
}
