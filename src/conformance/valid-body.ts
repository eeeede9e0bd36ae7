import { randomInt } from 'node:crypto';
import { type Field, int64, text } from '../contract/fields.ts';
import type { RecordType } from '../contract/record.ts';
import type { AnyRecord } from './check.ts';

/** What can be chosen of a valid record: a text, an int64, whether words differ, and an id that callers set. */
interface Chosen {
  readonly words?: string;
  readonly whole?: string;
  readonly id?: string;
}

/** Returns an id that no record has, which is a valid text and a valid int64. */
export const newId = (): string => String(randomInt(2 ** 47));

/** The fields that callers set; `words` is the first text that names no other record, `whole` the first int64. */
export function givenFields({ fields, id }: RecordType) {
  const given = Object.values<Field>(fields).filter(({ isAssigned }) => !isAssigned);
  const others = given.filter((field) => field !== id);
  const words = others.find(({ name, kind }) => kind === text && !/Id$/.test(name));
  return { given, words, whole: others.find(({ kind }) => kind === int64) };
}

/** Returns a valid record with all fields that callers set. What fields name may have to exist, as in `known`. */
export function validRecord(
  type: RecordType,
  [known]: readonly AnyRecord[] = [],
  chosen: Chosen = {},
): AnyRecord {
  const { given, words, whole } = givenFields(type);
  const choose = (field: Field): unknown => {
    const { name, kind } = field;
    if (field === type.id) return chosen.id ?? newId();
    if (field === words) return chosen.words ?? kind.example;
    if (field === whole && chosen.whole) return chosen.whole;
    return known?.[name] ?? kind.example;
  };
  return Object.fromEntries(given.map((field) => [field.name, choose(field)]));
}
