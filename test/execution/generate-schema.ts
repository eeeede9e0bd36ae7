import {
  buildSchema,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** The recorded arguments of resolvers, and of functions below the root. */
export type Calls = unknown[];

/** Generates an integer from 0 to `bound - 1`. */
export type Generate = (bound: number) => number;

/** Creates a deterministic generator from a seed. */
export function generateFrom(seed: number): Generate {
  let state = seed;
  return (bound) => {
    // A linear congruential generator (Numerical Recipes). Its high bits are more random.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Creates a value. Each execution needs a new one, because an iterator can be read only once. */
type Make = () => unknown;

const leafTypes = ['Int', 'Float', 'String', 'Boolean', 'ID', 'Color', 'Loose', 'Strict'];
const objectTypes = ['T0', 'T1', 'T2'];
// Some names are also properties of objects, arrays, strings or functions.
const fieldNames = ['f', 'g', 'h', 'constructor', 'length', 'toString', 'name'];

/** Returns true with a probability of 1 in `times`. */
export function chance(generate: Generate, times: number): boolean {
  return generate(times) === 0;
}

/** Picks one of the items. */
export function oneOf<T>(generate: Generate, items: readonly T[]): T {
  return items[generate(items.length)] as T;
}

/** Generates a schema with interfaces, unions, nested lists, unusual scalars and resolvers. */
export function generateSchema(generate: Generate): GraphQLSchema {
  const named = () =>
    chance(generate, 20)
      ? oneOf(generate, ['Node', 'Either'])
      : oneOf(generate, chance(generate, 2) ? objectTypes : leafTypes);
  const typeText = () => {
    let text = named();
    if (chance(generate, 4)) text += '!';
    for (let lists = oneOf(generate, [0, 0, 0, 1, 1, 2]); lists > 0; lists--) {
      text = `[${text}]${chance(generate, 4) ? '!' : ''}`;
    }
    return text;
  };
  const args = '(n: Int = 7, id: ID, e: Color = GREEN, in: In, ids: [ID!] = [9007199254740993])';
  const fields = (names: readonly string[]) =>
    names.map((name) => `${name}${chance(generate, 3) ? args : ''}: ${typeText()}`).join(' ');
  const someNames = () => fieldNames.filter(() => !chance(generate, 3));
  const rootNames = ['f', 'g', 'h'];
  const schema = buildSchema(`
    enum Color { RED GREEN BLUE }
    scalar Loose
    scalar Strict
    interface Node { id: ID }
    union Either = T0 | T1
    input In { n: Int = 3, big: ID = 9007199254740993, lists: [[Int!]], in: In, e: Color = RED, any: Loose }
    ${objectTypes.map((name) => `type ${name} implements Node { id: ID ${fields(someNames())} }`).join('\n')}
    type Query { ${fields(rootNames)} }
    type Mutation { ${fields(rootNames)} }
  `);
  const loose = schema.getType('Loose') as GraphQLScalarType;
  loose.coerceOutputValue = (value) => value;
  const strict = schema.getType('Strict') as GraphQLScalarType;
  strict.coerceOutputValue = (value) => {
    if (typeof value === 'string') return value.toUpperCase();
    if (typeof value === 'number') return undefined;
    throw new GraphQLError('Expected text.', { extensions: { code: 'STRICT' } });
  };
  const node = schema.getType('Node');
  for (const type of objectTypes.map((name) => schema.getType(name) as GraphQLObjectType)) {
    if (chance(generate, 30)) type.isTypeOf = () => true;
    for (const field of Object.values(type.getFields())) {
      if (chance(generate, 60)) field.resolve = () => 'resolved';
    }
  }
  for (const type of [node, schema.getType('Either')]) {
    if (isAbstractType(type)) type.resolveType = () => 'T0';
  }
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      if (!chance(generate, 40)) field.resolve = generateResolver(generate, field.type);
    }
  }
  return schema;
}

/** Generates a resolver that records its arguments. Parameters are declared in several ways. */
function generateResolver(
  generate: Generate,
  type: GraphQLOutputType,
): GraphQLFieldResolver<unknown, { calls: Calls }> {
  const make = generateValue(generate, type, 0);
  const outcome = oneOf<(value: unknown) => unknown>(generate, [
    (value) => Promise.resolve(value),
    (value) => value,
    async () => Promise.reject(new Error('rejected')),
    () => {
      throw new Error('thrown');
    },
    (value) => thenable(value),
  ]);
  const record: GraphQLFieldResolver<unknown, { calls: Calls }> = (source, args, context, info) => {
    const { fieldName, path, returnType, parentType, variableValues, operation, fragments } = info;
    const { sources: _, ...variables } = variableValues;
    context.calls.push([source, args, fieldName, path, returnType, parentType, variables]);
    context.calls.push([operation.operation, Object.keys(fragments), info.rootValue]);
    context.calls.push([info.getAbortSignal()?.aborted, info.fieldNodes.map(({ loc }) => loc)]);
    // Resolvers are allowed to change their arguments.
    const { ids, in: input } = args as { ids?: unknown[] | null; in?: { n?: number } | null };
    ids?.push('more');
    if (input) input.n = 99;
    return outcome(make());
  };
  return oneOf<GraphQLFieldResolver<unknown, { calls: Calls }>>(generate, [
    (source, args, context, info) => record(source, args, context, info),
    (...all) => record(...all),
    (source, args, context, info = undefined as never) => record(source, args, context, info),
  ]);
}

/** A thenable that is not a promise. (graphql-js fails on one that resolves synchronously.) */
const thenable = (value: unknown) =>
  Object.defineProperty({}, 'then', {
    value: (resolve: (value: unknown) => void) => queueMicrotask(() => resolve(value)),
  });

function generateValue(generate: Generate, type: GraphQLOutputType, depth: number): Make {
  if (chance(generate, isNonNullType(type) ? 40 : 8)) return () => null;
  if (chance(generate, 40)) return () => new Error('an error as a value');
  if (chance(generate, 60)) {
    return oneOf(generate, [
      () => 'text',
      () => 5,
      () => Symbol('value'),
      () => [],
      () => ({}),
      () => () => 'called',
      () => 12n,
      () => Number.NaN,
    ]);
  }
  if (isNonNullType(type)) return generateValue(generate, type.ofType, depth);
  if (isListType(type)) return generateList(generate, type.ofType, depth);
  if (isObjectType(type)) return generateObject(generate, type, depth);
  if (isAbstractType(type)) return () => ({ id: 'abstract' });
  if (isEnumType(type)) return () => 'GREEN';
  const leaves: Record<string, readonly Make[]> = {
    Int: [() => 5, () => '6', () => 2 ** 40],
    Float: [() => 1.5, () => Number.POSITIVE_INFINITY],
    Boolean: [() => true, () => 1, () => 'yes'],
    ID: [() => 'id', () => 7, () => 9007199254740993n, () => ({ valueOf: () => 'boxed' })],
    String: [() => 'text', () => 5, () => true],
    Strict: [() => 'strict', () => 'strict', () => 'strict', () => 5, () => true],
    Loose: [() => ({ any: [1] }), () => 'loose', () => async () => 1],
  };
  return oneOf(generate, leaves[type.name] ?? [() => 'text']);
}

function generateList(generate: Generate, type: GraphQLOutputType, depth: number): Make {
  const count = generate(depth > 1 ? 2 : 3);
  const items = Array.from({ length: count }, () =>
    odd(generate, generateValue(generate, type, depth + 1)),
  );
  const list = () => items.map((make) => make());
  if (!chance(generate, 25)) return list;
  return oneOf<Make>(generate, [
    () => new Set(list()),
    () => list().values(),
    async function* () {
      yield* list();
    },
    () => Object.assign(list(), { [Symbol.iterator]: () => ['other'].values() }),
    () => Object.assign(list(), { length: count + 1 }),
    () => new (class Lists extends Array<unknown> {})(...list(), null),
  ]);
}

function generateObject(generate: Generate, type: GraphQLObjectType, depth: number): Make {
  const properties = Object.values(type.getFields()).map(({ name, type: fieldType }) => {
    const make =
      depth > 1 && isCompositeType(getNamedType(fieldType))
        ? () => null
        : odd(generate, generateValue(generate, fieldType, depth + 1));
    return { name, make, isGetter: chance(generate, 30), isMissing: chance(generate, 20) };
  });
  return () => {
    const value = {};
    for (const { name, make, isGetter, isMissing } of properties) {
      if (isMissing) continue;
      const getter = {
        get: () => {
          throw new Error('a getter threw');
        },
      };
      // Values are not awaited here: a value can itself be a rejected promise.
      Object.defineProperty(value, name, isGetter ? getter : { value: make(), enumerable: true });
    }
    return value;
  };
}

/** Creates the same value, sometimes wrapped in a promise, a thenable or a function. */
function odd(generate: Generate, make: Make): Make {
  if (!chance(generate, 40)) return make;
  return oneOf<Make>(generate, [
    () => Promise.resolve(make()),
    () => {
      const promise = Promise.reject(new Error('rejected below'));
      promise.catch(() => {});
      return promise;
    },
    () => thenable(make()),
    () => (_args: unknown, context: { calls: Calls }) => {
      context.calls.push('a function below the root');
      return make();
    },
  ]);
}
