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

type Path = readonly (string | number)[];

/** The scalars whose values are text, which completion leaves unchanged. */
const textScalars = ['ID', 'String', 'DateTime'];

/** Completes one record at this response path, and adds its errors to `errors`. */
type Complete = (record: unknown, errors: GraphQLError[], path: Path) => unknown;

/**
 * Plans the completion of records, whose properties have the values of their fields: text, a word
 * of an enumeration, or for a nullable field also nothing or an Error. `write` writes one as JSON,
 * if it has all fields and its strings need no escapes.
 * @throws if a field has a resolver, or is neither text nor an enumeration.
 */
export function planRecord(
  type: GraphQLObjectType,
  { nodes }: SelectedField,
  collect: CollectFields,
) {
  const fields = collect(type, nodes);
  const members: string[] = [];
  for (const [index, { key, definition }] of fields.entries()) {
    if (definition === undefined) {
      members.push(`${key}: '${type.name}'`);
      continue;
    }
    if (definition.resolve || !isText(definition.type)) throw new TypeError('not compilable');
    const property = `record.${definition.name}`;
    const isRequired = isNonNullType(definition.type);
    const value = isRequired ? property : `nullable(${property}, ${index}, errors, path)`;
    members.push(`${key}: ${value}`);
  }

  function nullable(value: unknown, index: number, errors: GraphQLError[], path: Path): unknown {
    if (!(value instanceof Error)) return value ?? null;
    const { key, nodes: fieldNodes } = fields[index] as SelectedField;
    errors.push(locatedError(value, fieldNodes, [...path, key]));
    return null;
  }

  function write(record: unknown): string {
    const values = record as Readonly<Record<string, string>>;
    const texts = fields.map(
      ({ key, definition }) => `"${key}":"${definition ? values[definition.name] : type.name}"`,
    );
    return `{${texts.join()}}`;
  }

  // V8 knows the shape of an object literal in advance (docs/performance.md). Only GraphQL names,
  // which consist of letters, digits and underscores, are inserted into the code.
  const code = `return (record, errors, path) => ({ ${members.join(', ')} });`;
  const complete: Complete = new Function('nullable', code)(nullable);
  return { complete, write };
}

function isText(fieldType: GraphQLOutputType): boolean {
  const type = getNullableType(fieldType);
  return isEnumType(type) || (isScalarType(type) && textScalars.includes(type.name));
}
