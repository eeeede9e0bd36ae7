import {
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
} from 'graphql';
import { type FieldCollector, NotCompilableError, type SelectedField } from './field-collector.ts';
import { isRecordsText, isText, planRecords, type WriteRecords } from './records-text.ts';

/** The state of completing the value of one root field. */
export interface Completion {
  readonly errors: GraphQLError[];
  /** The response path of the current value. */
  readonly path: (string | number)[];
}

/**
 * Completes a resolved value (GraphQL specification, section 6.4.3).
 * @throws the error of an invalid value, located if it is nested in the value.
 */
export type Complete = (value: unknown, completion: Completion) => unknown;

/**
 * Plans the completion of a field's value.
 * @throws NotCompilableError for abstract types, types with `isTypeOf`, fields with a resolver, and
 *   the response key `__proto__`.
 */
export function planType(
  type: GraphQLOutputType,
  field: SelectedField,
  parent: GraphQLObjectType,
  collector: FieldCollector,
): Complete {
  if (isNonNullType(type)) {
    const complete = planType(type.ofType, field, parent, collector);
    return (value, completion) => {
      const completed = complete(value, completion);
      if (completed !== null) return completed;
      const coordinate = `${parent.name}.${field.definition?.name}`;
      throw new Error(`Cannot return null for non-nullable field ${coordinate}.`);
    };
  }
  return acceptNull(planNamed());

  function planNamed(): Complete {
    if (isListType(type)) {
      const complete = planType(type.ofType, field, parent, collector);
      const writeRecords = planRecords(type.ofType, field, collector);
      return planList(complete, !isNonNullType(type.ofType), field.nodes, writeRecords);
    }
    if (isLeafType(type)) return (value) => type.coerceOutputValue(value);
    if (isObjectType(type) && type.isTypeOf == null) return planObject(type, field, collector);
    throw new NotCompilableError();
  }
}

/** Returns null for null and undefined, and throws a value that is an Error. */
function acceptNull(complete: Complete): Complete {
  return (value, completion) => {
    if (value == null) return null;
    if (value instanceof Error) throw value;
    return complete(value, completion);
  };
}

function planList(
  complete: Complete,
  isNullable: boolean,
  nodes: readonly FieldNode[],
  writeRecords: WriteRecords,
): Complete {
  return (value, completion) => {
    const written = isRecordsText(value) ? writeRecords(value) : undefined;
    if (written !== undefined) return written;
    const list = Array.isArray(value) ? value : Array.from(value as Iterable<unknown>);
    const { path } = completion;
    const depth = path.length;
    const completed: unknown[] = [];
    for (let index = 0; index < list.length; index++) {
      path[depth] = index;
      try {
        completed.push(complete(list[index], completion));
      } catch (error) {
        path.length = depth + 1;
        completed.push(nullFor(error, nodes, completion, isNullable));
      }
    }
    path.length = depth;
    return completed;
  };
}

/** Records the error of a value and returns null. @throws the error if null is not allowed. */
export function nullFor(
  error: unknown,
  nodes: readonly FieldNode[],
  completion: Completion,
  isNullable: boolean,
): null {
  const located = locatedError(error, nodes, [...completion.path]);
  if (!isNullable) throw located;
  completion.errors.push(located);
  return null;
}

function planObject(
  type: GraphQLObjectType,
  { nodes }: SelectedField,
  collector: FieldCollector,
): Complete {
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = collector.collect(type, selectionSets);
  return generateObjectCompletion(fields.map((field) => planMember(field, type, collector)));
}

/** A field of an object, as a member of the generated object literal. */
interface Member {
  readonly key: string;
  /**
   * Returns the JavaScript expression of the value. It reads the object `source`, may assign the
   * variable `value`, and calls the function whose expression is `complete`.
   */
  readonly expression: (complete: string) => string;
  readonly complete: Complete | undefined;
}

function planMember(
  field: SelectedField,
  parent: GraphQLObjectType,
  collector: FieldCollector,
): Member {
  const { key, definition } = field;
  // In an object literal, this key would set the prototype.
  if (key === '__proto__') throw new NotCompilableError();
  if (definition === undefined) {
    return { key, expression: () => `'${parent.name}'`, complete: undefined };
  }
  // A resolver can return anything, such as a promise.
  if (definition.resolve !== undefined) throw new NotCompilableError();
  const property = `source.${definition.name}`;
  return {
    key,
    expression: isText(definition.type)
      ? (complete) =>
          `typeof (value = ${property}) === 'string' ? value : ${complete}(value, completion)`
      : (complete) => `${complete}(${property}, completion)`,
    complete: planFieldValue(field, definition, parent, collector),
  };
}

function planFieldValue(
  field: SelectedField,
  { type }: GraphQLField<unknown, unknown>,
  parent: GraphQLObjectType,
  collector: FieldCollector,
): Complete {
  const { key, nodes } = field;
  const complete = planType(type, field, parent, collector);
  const isNullable = !isNonNullType(type);
  return (value, completion) => {
    const { path } = completion;
    const depth = path.length;
    path.push(key);
    try {
      return complete(value, completion);
    } catch (error) {
      path.length = depth + 1;
      return nullFor(error, nodes, completion, isNullable);
    } finally {
      path.length = depth;
    }
  };
}

/**
 * Generates a function that completes the members of an object. The generated code is an object
 * literal, because V8 knows its shape in advance (docs/performance.md). Only GraphQL names, which
 * consist of letters, digits and underscores, are inserted into the code.
 */
function generateObjectCompletion(members: readonly Member[]): Complete {
  const text = members.map(({ key, expression }, index) => {
    return `${key}: ${expression(`complete[${index}]`)}`;
  });
  const body = `return (source, completion) => {
    let value;
    return { ${text.join(', ')} };
  };`;
  return new Function('complete', body)(members.map(({ complete }) => complete));
}
