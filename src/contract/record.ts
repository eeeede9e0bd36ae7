import type { Field, Kind } from './fields.ts';

/** The fields of a record by name, in the order of their columns and in the usual lists. */
export type Fields = Readonly<Record<string, Field>>;

/** A record of the contract. All code that handles each of its fields follows from it. */
export interface RecordType<Of extends Fields = Fields> {
  /** What messages call one, and several. */
  readonly singular: string;
  readonly plural: string;
  readonly fields: Of;
  /** The field that identifies one: `id`, or else the first. */
  readonly id: Field;
  /** Maps each field of a record, in order. */
  map<From, To>(
    record: { readonly [Name in keyof Of]?: From },
    map: (value: From | undefined, field: Field, index?: number) => To,
    index?: number,
  ): Record<keyof Of, To>;
}

/** Declares a record. */
export function defineRecord<const Of extends Fields>(
  singular: string,
  plural: string,
  fields: Of,
): RecordType<Of> {
  let compiled: RecordType<Of>['map'] | undefined;
  const map: RecordType<Of>['map'] = (record, mapField, index) => {
    compiled ??= compileMap(fields) as RecordType<Of>['map'];
    return compiled(record, mapField, index);
  };
  const id = (fields['id'] ?? Object.values(fields)[0]) as Field;
  return { singular, plural, fields, id, map };
}

/** A loop would take three times as long. */
function compileMap(fields: Fields): unknown {
  const members = Object.keys(fields).map((key) => {
    const name = JSON.stringify(key);
    return `${name}: map(record[${name}], fields[${name}], index)`;
  });
  const code = `return (record, map, index) => ({ ${members.join(', ')} });`;
  return new Function('fields', code)(fields);
}

type Value<Of extends Field> = NonNullable<
  Of['kind'] extends Kind<infer Parsed> ? Parsed : unknown
>;
type Required<Of extends Fields> = {
  [Name in keyof Of]: Of[Name]['isRequired'] extends true ? Name : never;
}[keyof Of];
type Assigned<Of extends Fields> = {
  [Name in keyof Of]: Of[Name] extends { readonly isAssigned: true } ? Name : never;
}[keyof Of];

/** A record that a caller sends: without the fields that the service assigns. */
export type NewRecordOf<Of extends Fields> = {
  readonly [Name in Exclude<Required<Of>, Assigned<Of>>]: Value<Of[Name]>;
} & {
  readonly [Name in Exclude<keyof Of, Required<Of>>]?: Value<Of[Name]> | undefined;
};

/** A record of a backend. An invalid optional field is an Error instead. */
export type RecordOf<Of extends Fields> = {
  readonly [Name in Required<Of>]: Value<Of[Name]>;
} & {
  readonly [Name in Exclude<keyof Of, Required<Of>>]?: Value<Of[Name]> | Error | undefined;
};
