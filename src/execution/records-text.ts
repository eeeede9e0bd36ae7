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

/**
 * A list of records as unparsed JSON text. `write` copies properties out of the text; iteration
 * parses the records.
 */
export interface RecordsText extends Iterable<unknown> {
  /** The format of each property. All lists of the same kind share this object. */
  readonly properties: Readonly<Record<string, PropertyText>>;
  /**
   * Writes a JSON array with one item per record. Like a template literal, an item consists of the
   * `literals`, which are ASCII, with the properties of these names between them.
   */
  write(literals: readonly Uint8Array[], names: readonly string[]): string;
}

/** Whether a list is a `RecordsText`. */
export function isRecordsText(list: unknown): list is RecordsText {
  if (typeof list !== 'object' || list === null) return false;
  return 'write' in list && 'properties' in list && Symbol.iterator in list;
}

/** A completed value as JSON text. `JSON.stringify` writes its value too, but parses it first. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Parses the text. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Writes a list of records; returns undefined if a field cannot be copied from the text. */
export type WriteRecords = (list: RecordsText) => JsonText | undefined;

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
  let plannedFor: RecordsText['properties'] | undefined;
  let template: Template | undefined;
  return (list) => {
    if (plannedFor !== list.properties) {
      plannedFor = list.properties;
      template = planTemplate(fields, type.name, plannedFor);
    }
    return template && new JsonText(list.write(template.literals, template.names));
  };
}

/** How to write one record: literals, with the properties of these names between them. */
interface Template {
  readonly literals: readonly Uint8Array[];
  readonly names: readonly string[];
}

function planTemplate(
  fields: readonly SelectedField[],
  typeName: string,
  properties: RecordsText['properties'],
): Template | undefined {
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
  return { literals: literals.map((literal) => Buffer.from(literal)), names };
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
