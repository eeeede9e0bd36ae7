import { randomInt } from 'node:crypto';
import { encodeMember, encodeRecord } from '../contract/codec.ts';
import { type Field, int64, text } from '../contract/fields.ts';
import { idFieldOf, type Operation } from '../contract/operation.ts';
import type { Fields, NewRecordOf, RecordType } from '../contract/record.ts';
import type { AnyRecord } from './check.ts';

/** What can be chosen of a valid body: a text, an int64, and the id if callers set it. */
interface Chosen {
  readonly words?: string;
  readonly whole?: string;
  readonly id?: string;
}

/** Returns an id that no record has, which is a valid text and a valid int64. */
export const newId = (): string => String(randomInt(2 ** 47));

/** The fields that callers set; `words` is the first text that is no id, `whole` the first int64. */
export function givenFields(operation: Operation, type: RecordType) {
  const id = idFieldOf(operation, type);
  const given = Object.values<Field>(type.fields).filter(({ isAssigned }) => !isAssigned);
  const others = given.filter((field) => field !== id);
  const ofKind = (wanted: Field['kind']) => others.find(({ kind }) => kind === wanted);
  return { given, id, words: ofKind(text), whole: ofKind(int64) };
}

/** Returns a valid record with all fields that callers set; what an int64 names may have to exist. */
export function validRecord(
  operation: Operation,
  type: RecordType,
  [known]: readonly AnyRecord[] = [],
  chosen: Chosen = {},
): AnyRecord {
  const { given, id, words, whole } = givenFields(operation, type);
  const choose = (field: Field): unknown => {
    const { name, kind } = field;
    // The examples of other methods are the parameters of their paths.
    if (field === id) return chosen.id ?? (operation.method === 'POST' ? newId() : kind.example);
    if (field === words && chosen.words) return chosen.words;
    if (field === whole && chosen.whole) return chosen.whole;
    return (kind === int64 && known?.[name]) || kind.example;
  };
  return Object.fromEntries(given.map((field) => [field.name, choose(field)]));
}

/** Returns the text of a body with a record. */
export const bodyOf = (type: RecordType, record: AnyRecord): string =>
  JSON.stringify(encodeRecord(type, record as NewRecordOf<Fields>));

/** Returns a valid body of an operation, if it has one. */
export function validBody(
  operation: Operation,
  known: (type: RecordType) => readonly AnyRecord[],
  chosen: Chosen = {},
): { readonly body?: string } {
  const { body } = operation;
  if (body === undefined) return {};
  if ('fields' in body) {
    return { body: bodyOf(body, validRecord(operation, body, known(body), chosen)) };
  }
  return { body: JSON.stringify(encodeMember(body, chosen.words ?? body.kind.example)) };
}
