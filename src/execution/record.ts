import {
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isNonNullType,
  isScalarType,
  locatedError,
} from 'graphql';
import type { CollectFields, SelectedField } from './field-collector.ts';

/**
 * Completes the records that a resolver returns. Their properties have the values of their fields:
 * text, a word of an enumeration, or for a nullable field also nothing or an Error.
 */
export interface RecordCompletion {
  /** Completes one record at this response path. Adds errors to `errors`. */
  readonly complete: (record: unknown, errors: GraphQLError[], path: Path) => unknown;
  /** Writes a record as JSON, if it has no errors and its strings need no escapes. */
  readonly write: (record: unknown) => string;
}

type Path = readonly (string | number)[];

/** The scalars whose values are text, which completion leaves unchanged. */
const textScalars = ['ID', 'String', 'DateTime'];

/**
 * Plans the completion of records.
 * @throws if a field has a resolver, or is neither text nor an enumeration.
 */
export function planRecord(
  type: GraphQLObjectType,
  { nodes }: SelectedField,
  collect: CollectFields,
): RecordCompletion {
  const fields = collect(type, nodes);
  const members: string[] = [];
  const texts: string[] = [];
  for (const [index, { key, definition }] of fields.entries()) {
    if (definition === undefined) {
      members.push(`${key}: '${type.name}'`);
      texts.push(`"${key}":"${type.name}"`);
      continue;
    }
    if (definition.resolve || !isText(definition.type)) throw new TypeError('not compilable');
    const property = `record.${definition.name}`;
    if (isNonNullType(definition.type)) {
      members.push(`${key}: ${property}`);
      texts.push(`"${key}":"\${${property}}"`);
    } else {
      members.push(`${key}: nullable(${property}, ${index}, errors, path)`);
      texts.push(`"${key}":\${${property} === undefined ? 'null' : '"' + ${property} + '"'}`);
    }
  }

  function nullable(value: unknown, index: number, errors: GraphQLError[], path: Path): unknown {
    if (!(value instanceof Error)) return value ?? null;
    const { key, nodes: fieldNodes } = fields[index] as SelectedField;
    errors.push(locatedError(value, fieldNodes, [...path, key]));
    return null;
  }

  // V8 knows the shape of an object literal in advance (docs/performance.md). Only GraphQL names,
  // which consist of letters, digits and underscores, are inserted into the code.
  return {
    complete: new Function(
      'nullable',
      `return (record, errors, path) => ({ ${members.join(', ')} });`,
    )(nullable),
    write: new Function('record', `return \`{${texts.join(',')}}\`;`) as RecordCompletion['write'],
  };
}

function isText(fieldType: GraphQLOutputType): boolean {
  const type = getNullableType(fieldType);
  return isEnumType(type) || (isScalarType(type) && textScalars.includes(type.name));
}
