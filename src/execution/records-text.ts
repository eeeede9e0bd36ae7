import {
  type GraphQLEnumType,
  GraphQLID,
  type GraphQLOutputType,
  GraphQLString,
  getNullableType,
  isEnumType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { FieldCollector, SelectedField } from './field-collector.ts';

/**
 * The format of a property's JSON text: the digits of a number, which becomes a string in the
 * response; a string; or one of these strings or null. All are in the format of `JSON.stringify`.
 */
export type PropertyText = 'digits' | 'string' | readonly string[];

/** What all lists of one kind of records have in common. */
export interface RecordsFormat {
  /** The format of each property. */
  readonly properties: Readonly<Record<string, PropertyText>>;
  /**
   * Returns a function that completes a list, given its text: a JSON array with one item per record.
   * Like a template literal, an item consists of the `literals`, which are ASCII, with the
   * properties of these names between them. The function returns undefined for a list that it
   * cannot write.
   */
  readonly createWriter: (
    literals: readonly string[],
    names: readonly string[],
  ) => (text: string) => unknown;
}

/**
 * A list of records as unparsed JSON text. A writer of its format copies properties out of the
 * text; iteration parses the records.
 */
export interface RecordsText extends Iterable<unknown> {
  readonly format: RecordsFormat;
  readonly text: string;
}

/** Whether a list is a `RecordsText`. */
export function isRecordsText(list: unknown): list is RecordsText {
  if (typeof list !== 'object' || list === null) return false;
  return 'format' in list && 'text' in list && Symbol.iterator in list;
}

/** Writes a list of records. Returns undefined if it cannot be copied from the text. */
export type WriteRecords = (list: RecordsText) => unknown;

/** Plans how to write lists of this item type with the selected fields. */
export function planRecords(
  itemType: GraphQLOutputType,
  { nodes }: SelectedField,
  collector: FieldCollector,
): WriteRecords {
  const type = getNullableType(itemType);
  if (!isObjectType(type)) return () => undefined;
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = collector.collect(type, selectionSets);
  let plannedFor: RecordsFormat | undefined;
  let write: ((text: string) => unknown) | undefined;
  return ({ format, text }) => {
    if (plannedFor !== format) {
      plannedFor = format;
      write = planWriter(fields, type.name, format);
    }
    return write?.(text);
  };
}

function planWriter(
  fields: readonly SelectedField[],
  typeName: string,
  { properties, createWriter }: RecordsFormat,
): ((text: string) => unknown) | undefined {
  const literals: string[] = [];
  const names: string[] = [];
  let text = '{';
  for (const [index, { key, definition }] of fields.entries()) {
    text += `${index === 0 ? '' : ','}"${key}":`;
    if (definition === undefined) {
      text += `"${typeName}"`;
      continue;
    }
    const { name, type } = definition;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || !isCopied(property, type)) return undefined;
    const quote = property === 'digits' ? '"' : '';
    literals.push(text + quote);
    names.push(name);
    text = quote;
  }
  literals.push(`${text}}`);
  return createWriter(literals, names);
}

/** Whether completion leaves every value of this format unchanged, so that it can be copied. */
function isCopied(property: PropertyText, type: GraphQLOutputType): boolean {
  if (typeof property === 'string') return isText(type);
  return !isNonNullType(type) && isEnumType(type) && property.every((word) => hasValue(type, word));
}

function hasValue(type: GraphQLEnumType, word: string): boolean {
  return type.getValue(word)?.value === word;
}

/** Whether the type completes every string to the same string. */
export function isText(type: GraphQLOutputType): boolean {
  const nullable = getNullableType(type);
  return nullable === GraphQLString || nullable === GraphQLID;
}
