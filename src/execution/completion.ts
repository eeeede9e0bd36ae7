import {
  type FieldNode,
  type GraphQLError,
  GraphQLID,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
} from 'graphql';
import { NotCompilable } from './not-compilable.ts';
import type { SelectedField, SelectionReader } from './selection.ts';

/** What the completion of one value adds to. */
export interface Completion {
  readonly errors: GraphQLError[];
  /** Where in the response the value stands. */
  readonly path: (string | number)[];
}

/**
 * Makes what the response holds of what a resolver returned (GraphQL specification, section 6.4.3).
 * @throws for a value that can't be completed, with its path where that is known.
 */
export type Complete = (value: unknown, completion: Completion) => unknown;

/** Completes the property of an object that a field names. */
type CompleteField = (source: Readonly<Record<string, unknown>>, completion: Completion) => unknown;

/** The completion of a field's value. @throws NotCompilable for types that it can't tell ahead. */
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
      return completeList(complete, !isNonNullType(type.ofType), field.nodes);
    }
    if (isLeafType(type)) {
      return (value) => {
        const completed = type.coerceOutputValue(value);
        if (completed != null) return completed;
        throw new Error(`Expected a value of ${type.name}.`);
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
    if (value instanceof Error) throw value;
    return complete(value, completion);
  };
}

function completeList(
  complete: Complete,
  isNullable: boolean,
  nodes: readonly FieldNode[],
): Complete {
  return (list, completion) => {
    if (!Array.isArray(list)) throw new Error('Expected an array.');
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

/** Null for a value that could not be completed. @throws the error where null is not allowed. */
export function nullFor(
  error: unknown,
  nodes: readonly FieldNode[],
  { errors, path }: Completion,
  isNullable: boolean,
): null {
  const located = locatedError(error, nodes, [...path]);
  if (!isNullable) throw located;
  errors.push(located);
  return null;
}

function completeObject(
  type: GraphQLObjectType,
  { nodes }: SelectedField,
  selections: SelectionReader,
): Complete {
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = selections.fieldsOf(type, selectionSets);
  const complete = writeObject(
    fields.map((field) => ({
      key: field.key,
      property: field.definition?.name,
      isText: isText(field),
      complete: completeField(field, type, selections),
    })),
  );
  return (value, completion) => complete(value as Readonly<Record<string, unknown>>, completion);
}

function completeField(
  field: SelectedField,
  parent: GraphQLObjectType,
  selections: SelectionReader,
): CompleteField {
  const { key, nodes, definition } = field;
  if (definition === undefined) return () => parent.name;
  // Only what a field's resolver does could tell whether its value is there at once.
  if (definition.resolve !== undefined) throw new NotCompilable();
  const { name, type } = definition;
  const complete = completeType(type, field, parent, selections);
  const isNullable = !isNonNullType(type);
  return (source, completion) => {
    const { path } = completion;
    const depth = path.length;
    path.push(key);
    try {
      return complete(source[name], completion);
    } catch (error) {
      path.length = depth + 1;
      return nullFor(error, nodes, completion, isNullable);
    } finally {
      path.length = depth;
    }
  };
}

/** Whether a string is completed to itself. */
function isText({ definition }: SelectedField): boolean {
  const type = isNonNullType(definition?.type) ? definition.type.ofType : definition?.type;
  return type === GraphQLString || type === GraphQLID;
}

interface Member {
  readonly key: string;
  readonly property: string | undefined;
  readonly isText: boolean;
  readonly complete: CompleteField;
}

/**
 * A function that completes the members of an object. It is generated, as an object literal: the
 * engine then knows the shape of the object beforehand, which is several times faster than to set
 * one member after the other. Only names of a valid document get into the code.
 */
function writeObject(members: readonly Member[]): CompleteField {
  const text = members.map(({ key, property, isText }, index) => {
    // In a literal, this one would be the prototype.
    if (key === '__proto__') throw new NotCompilable();
    const complete = `complete[${index}](source, completion)`;
    const value = `typeof source.${property} === 'string' ? source.${property} : ${complete}`;
    return `${key}: ${isText ? value : complete}`;
  });
  const body = `return (source, completion) => ({ ${text.join(', ')} });`;
  return new Function('complete', body)(members.map(({ complete }) => complete));
}
