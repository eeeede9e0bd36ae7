import { decodeList } from './codec.ts';
import { JsonText } from './json.ts';
import type { List } from './operation.ts';
import type { Fields, RecordOf } from './record.ts';
import { readJson } from './response-json.ts';

/** The most characters of a list that is matched, because aliases can repeat them all. */
const maxLength = 64 * 1024;

/** How the usual texts of a list are matched. */
interface Format<Of extends Fields> {
  readonly list: List<Of>;
  /** Matches each record; its groups are the values. */
  readonly records: RegExp;
  /** A record whose members are these groups, and those of optional fields. */
  readonly groups: RecordOf<Of>;
  readonly optional: readonly string[];
}

/**
 * Creates the reader of a list of records, whose text must be well-formed Unicode. A list in the usual
 * format is only checked, and decoded if it is read (docs/performance.md).
 * It throws InvalidResponseError that names the first invalid field.
 */
export function createListReader<Of extends Fields>(
  list: List<Of>,
): (text: string) => Iterable<RecordOf<Of>> {
  const { listOf: type, maximum } = list;
  const fields = Object.values(type.fields);

  /**
   * Matches one record in the format of `JSON.stringify`; `open` begins the group of each member.
   * Optional fields may be absent or null unless it is complete.
   */
  function recordIn(open: string, isComplete: boolean): string {
    const members = fields.map(({ name, kind, isRequired }, index) => {
      const quote = kind.isText ? '"' : '';
      const value = `${quote}${open}${kind.pattern})${quote}`;
      const key = `${index > 0 ? ',' : ''}"${name}":`;
      return isRequired || isComplete ? key + value : `(?:${key}(?:null|${value}))?`;
    });
    return `\\{${members.join('')}\\}`;
  }

  function listIn(isComplete: boolean): RegExp {
    const one = recordIn('(?:', isComplete);
    return new RegExp(`^\\[${one}(?:,${one}){0,${maximum - 1}}\\]$`);
  }

  // Without a first member that is always there, commas differ; `$100` is no group.
  if (!fields[0]?.isRequired || fields.length > 99)
    return (text) => decodeList(list, readJson(text));
  const complete = listIn(true);
  const incomplete = listIn(false);
  const groupOf = (field: (typeof fields)[number]) => `$${fields.indexOf(field) + 1}`;
  const format: Format<Of> = {
    list,
    records: new RegExp(recordIn('(', false), 'g'),
    groups: type.map<unknown, unknown>({}, (_, field) => groupOf(field)) as RecordOf<Of>,
    optional: fields.filter(({ isRequired }) => !isRequired).map(groupOf),
  };
  return (text) => {
    if (text.length <= maxLength) {
      if (complete.test(text)) return new ListText(text, true, format);
      if (incomplete.test(text)) return new ListText(text, false, format);
    }
    return decodeList(list, readJson(text));
  };
}

/** The text of a valid list of records, whose strings need no escapes in JSON. */
export class ListText<Of extends Fields> implements Iterable<RecordOf<Of>> {
  readonly #text: string;
  readonly #isComplete: boolean;
  readonly #format: Format<Of>;
  #records: readonly RecordOf<Of>[] | undefined;

  constructor(text: string, isComplete: boolean, format: Format<Of>) {
    this.#text = text;
    this.#isComplete = isComplete;
    this.#format = format;
  }

  [Symbol.iterator](): Iterator<RecordOf<Of>> {
    this.#records ??= decodeList(this.#format.list, readJson(this.#text));
    return this.#records.values();
  }

  toJSON(): readonly RecordOf<Of>[] {
    return [...this];
  }

  /** Writes the text of each record; undefined if it has an optional field that one may lack. */
  writeEach(write: (record: RecordOf<Of>) => string): JsonText | undefined {
    const { records, groups, optional } = this.#format;
    const members = write(groups);
    if (!this.#isComplete && optional.some((group) => members.includes(group))) return undefined;
    return new JsonText(this.#text.replace(records, members));
  }
}
