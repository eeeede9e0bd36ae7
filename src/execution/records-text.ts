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
import type { SelectedField, SelectionReader } from './selection.ts';

/**
 * What the JSON text of a property is: the digits of a number that the response holds as a string, a
 * string, or null or one of these words as a string. All of them as `JSON.stringify` writes them.
 */
export type PropertyText = 'digits' | 'string' | readonly string[];

/**
 * A list of records that is still JSON text, which it can write again with other members. Iterating
 * makes objects of it.
 */
export interface RecordsText extends Iterable<unknown> {
  /** The same object for all lists of one kind. */
  readonly properties: Readonly<Record<string, PropertyText>>;
  /**
   * A JSON array with an item for each record: the texts, in ASCII, and between them those of its
   * properties, each of which has one before and one after it.
   */
  write(texts: readonly Uint8Array[], names: readonly string[]): string;
}

/** Whether a list writes itself. */
export function isRecordsText(list: unknown): list is RecordsText {
  if (typeof list !== 'object' || list === null) return false;
  return 'write' in list && 'properties' in list && Symbol.iterator in list;
}

/** A completed value that is JSON text already; for who does not know it, `JSON.stringify` reads it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The value as objects. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Writes a list of records; undefined where one of the fields has to be completed from a value. */
export type WriteRecords = (list: RecordsText) => JsonText | undefined;

/** Plans how lists of this type are written, with the fields that are selected of an item. */
export function planRecords(
  itemType: GraphQLOutputType,
  { nodes }: SelectedField,
  selections: SelectionReader,
): WriteRecords {
  const type = getNullableType(itemType);
  if (!isObjectType(type)) return () => undefined;
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = selections.fieldsOf(type, selectionSets);
  let planned: RecordsText['properties'] | undefined;
  let template: Template | undefined;
  return (list) => {
    if (planned !== list.properties) {
      planned = list.properties;
      template = planTemplate(fields, type.name, planned);
    }
    return template && new JsonText(list.write(template.texts, template.names));
  };
}

/** The text of a record: constant texts, and between them properties. */
interface Template {
  readonly texts: readonly Uint8Array[];
  readonly names: readonly string[];
}

function planTemplate(
  fields: readonly SelectedField[],
  typeName: string,
  properties: RecordsText['properties'],
): Template | undefined {
  const texts: string[] = [];
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
    if (property === undefined || !isCompletedToItself(property, type)) return undefined;
    const quote = property === 'digits' ? '"' : '';
    texts.push(text + quote);
    names.push(name);
    text = quote;
  }
  texts.push(`${text}}`);
  return { texts: texts.map((one) => Buffer.from(one)), names };
}

/** Whether the response holds a property of this kind as it is. */
function isCompletedToItself(property: PropertyText, type: GraphQLOutputType): boolean {
  if (typeof property === 'string') return isText(type);
  return !isNonNullType(type) && isEnumType(type) && property.every((word) => names(type, word));
}

function names(type: GraphQLEnumType, word: string): boolean {
  return type.getValue(word)?.value === word;
}

/** Whether a string is completed to itself. */
export function isText(type: GraphQLOutputType): boolean {
  const nullable = getNullableType(type);
  return nullable === GraphQLString || nullable === GraphQLID;
}
