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
import { isRecordsText, isText, JsonText, planRecords, type WriteRecords } from './records-text.ts';
import { NotCompilable, UnforeseenValue } from './refusals.ts';
import type { SelectedField, SelectionReader } from './selection.ts';

/** What the completion of one value adds to. */
export interface Completion {
  readonly errors: GraphQLError[];
  /** Where in the response the value stands. */
  readonly path: (string | number)[];
  /** The error that leaves the value where null is not allowed. */
  thrown: GraphQLError | undefined;
}

/**
 * Makes what the response holds of what a resolver returned (GraphQL specification, section 6.4.3).
 * @throws for a value that can't be completed, with its path where that is known;
 * UnforeseenValue for one that the fallback executor has to complete.
 */
export type Complete = (value: unknown, completion: Completion) => unknown;

/** The completion of a field's value. @throws NotCompilable for types that only a value decides. */
export function completeType(
  type: GraphQLOutputType,
  field: SelectedField,
  parent: GraphQLObjectType,
  selections: SelectionReader,
): Complete {
  if (isNonNullType(type)) {
    const complete = completeType(type.ofType, field, parent, selections);
    return (value, completion) => {
      const completed = complete(value, completion);
      if (completed !== null) return completed;
      const coordinate = `${parent.name}.${field.definition?.name}`;
      throw new Error(`Cannot return null for non-nullable field ${coordinate}.`);
    };
  }
  return orNull(completeNamed());

  function completeNamed(): Complete {
    if (isListType(type)) {
      const complete = completeType(type.ofType, field, parent, selections);
      const writeRecords = planRecords(type.ofType, field, selections);
      return completeList(complete, !isNonNullType(type.ofType), field.nodes, writeRecords);
    }
    if (isLeafType(type)) {
      return (value) => {
        const completed = type.coerceOutputValue(value);
        if (completed == null || isPending(completed)) throw new UnforeseenValue();
        return completed;
      };
    }
    if (isObjectType(type) && type.isTypeOf == null) return completeObject(type, field, selections);
    throw new NotCompilable();
  }
}

/** Null stays null, and a value that is an error is thrown. */
function orNull(complete: Complete): Complete {
  return (value, completion) => {
    if (value == null) return null;
    if (isPending(value)) throw new UnforeseenValue();
    if (value instanceof Error) throw value;
    return complete(value, completion);
  };
}

/** Whether graphql-js may have to call a value, or to wait for it. */
function isPending(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && typeof (value as PromiseLike<unknown>).then === 'function';
}

/** Whether a list is iterated by its indices. */
function isPlainArray(list: unknown): list is unknown[] {
  return (
    Array.isArray(list) &&
    list[Symbol.iterator] === Array.prototype.values &&
    !(Symbol.asyncIterator in list)
  );
}

function completeList(
  complete: Complete,
  isNullable: boolean,
  nodes: readonly FieldNode[],
  writeRecords: WriteRecords,
): Complete {
  return (value, completion) => {
    const list = isRecordsText(value) ? (writeRecords(value) ?? [...value]) : value;
    if (list instanceof JsonText) return list;
    if (!isPlainArray(list)) throw new UnforeseenValue();
    const { path } = completion;
    const depth = path.length;
    const completed: unknown[] = [];
    for (let index = 0; index < list.length; index++) {
      path[depth] = index;
      const item = list[index];
      try {
        completed.push(complete(item, completion));
      } catch (error) {
        path.length = depth + 1;
        completed.push(nullFor(error, nodes, completion, isNullable));
      }
    }
    path.length = depth;
    return completed;
  };
}

/**
 * Null for a value that could not be completed.
 * @throws the error where null is not allowed, and UnforeseenValue as it is.
 */
export function nullFor(
  error: unknown,
  nodes: readonly FieldNode[],
  completion: Completion,
  isNullable: boolean,
): null {
  if (error instanceof UnforeseenValue) throw error;
  const located = locatedError(error, nodes, [...completion.path]);
  if (isNullable) {
    completion.errors.push(located);
    return null;
  }
  completion.thrown = located;
  throw located;
}

function completeObject(
  type: GraphQLObjectType,
  { nodes }: SelectedField,
  selections: SelectionReader,
): Complete {
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = selections.fieldsOf(type, selectionSets);
  const complete = writeObject(fields.map((field) => planMember(field, type, selections)));
  return (value, completion) => {
    // A primitive has properties too, but none that a field may show.
    if (typeof value !== 'object') throw new UnforeseenValue();
    return complete(value, completion);
  };
}

/** A field of an object, as a member of the literal that is written for the object. */
interface Member {
  readonly key: string;
  /** The expression of its value: of `source`, `value` (to read a property once) and `complete`. */
  readonly expression: (complete: string) => string;
  readonly complete: Complete | undefined;
}

function planMember(
  field: SelectedField,
  parent: GraphQLObjectType,
  selections: SelectionReader,
): Member {
  const { key, definition } = field;
  // In a literal, this one would be the prototype.
  if (key === '__proto__') throw new NotCompilable();
  if (definition === undefined) {
    return { key, expression: () => `'${parent.name}'`, complete: undefined };
  }
  // Only a call could show what a resolver does.
  if (definition.resolve !== undefined) throw new NotCompilable();
  const property = `source.${definition.name}`;
  return {
    key,
    expression: isText(definition.type)
      ? (complete) =>
          `typeof (value = ${property}) === 'string' ? value : ${complete}(value, completion)`
      : (complete) => `${complete}(${property}, completion)`,
    complete: completeField(field, definition, parent, selections),
  };
}

function completeField(
  field: SelectedField,
  { type }: GraphQLField<unknown, unknown>,
  parent: GraphQLObjectType,
  selections: SelectionReader,
): Complete {
  const { key, nodes } = field;
  const complete = completeType(type, field, parent, selections);
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
 * A function that completes the members of an object. It is generated, as an object literal: the
 * engine then knows the shape of the object beforehand, which is several times faster than to set
 * one member after the other. Only names of a valid document get into the code.
 */
function writeObject(members: readonly Member[]): Complete {
  const text = members.map(({ key, expression }, index) => {
    return `${key}: ${expression(`complete[${index}]`)}`;
  });
  const body = `return (source, completion) => {
    let value;
    try {
      return { ${text.join(', ')} };
    } catch (error) {
      throw error === completion.thrown ? error : unforeseen();
    }
  };`;
  // What completion did not throw, a getter did.
  const unforeseen = () => new UnforeseenValue();
  const complete = members.map(({ complete }) => complete);
  return new Function('complete', 'unforeseen', body)(complete, unforeseen);
}
