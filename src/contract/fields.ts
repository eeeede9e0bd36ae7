import { type Int64, parseInt64 } from './int64.ts';

/** What a value has to be. */
export interface Expectation<T = unknown> {
  /** The valid values, as messages describe them. */
  readonly expected: string;
  /** Returns the value of JSON from `parseJson`, or undefined if it is invalid. */
  readonly parse: (json: unknown) => T | undefined;
}

/** What a parameter has to be. */
export interface Argument<T = unknown> extends Expectation<T> {
  /** The same for the text in a URL, if that differs. */
  readonly inUrl?: Expectation<T>;
  /** The same for a value of GraphQL, if its type accepts more. */
  readonly inGraphql?: Expectation<T>;
  readonly example: T;
  /** All valid values, if they can be listed. */
  readonly values?: readonly T[];
  /** Ids that no record has, for the checks of a service, with an id and a description of each. */
  readonly unknown?: readonly (readonly [id: string, description: string, value: T])[];
}

/** What a field can contain. The codec, lists as text, columns and `check-service` follow from it. */
export interface Kind<T = unknown> extends Argument<T> {
  readonly name: 'int64' | 'text' | 'enumeration';
  /** Matches JSON that `JSON.stringify` would write in the same way, in quotes if it `isText`. */
  readonly pattern: string;
  readonly isText: boolean;
  /** JSON that is invalid, for the checks of a service, with an id and a description. */
  readonly invalid: readonly (readonly [id: string, description: string, json: string])[];
}

/** A field of a record. An optional one that is invalid is an error for this field only. */
export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly isRequired: boolean;
  /** Whether only the service sets it. */
  readonly isAssigned?: true;
}

/** An int64, a JSON number. Its pattern leaves out some of 19 digits, which may be out of range. */
export const int64: Kind<Int64> = {
  name: 'int64',
  expected: 'an int64 number',
  parse: (json) => (typeof json === 'string' ? undefined : parseInt64(json)),
  inUrl: { expected: 'an int64', parse: parseInt64 },
  inGraphql: { expected: 'a whole number from -2^63 to 2^63-1', parse: parseInt64 },
  pattern: '0|-?[1-9][0-9]{0,17}|-?(?:[1-8][0-9]|9[01])[0-9]{17}',
  isText: false,
  example: '1',
  invalid: [
    ['wrong', 'text', '"one"'],
    ['fraction', 'a fraction', '1.5'],
    ['beyond-int64', '2^63', '9223372036854775808'],
  ],
  unknown: [
    ['missing', 'an unknown id', '2147483647'],
    ['int64', 'the unknown id 2^63-1', '9223372036854775807'],
  ],
};

/** An integer within bounds, a parameter. */
export function integer(minimum: number, maximum: number): Argument<number> {
  const expected = `an integer from ${minimum} to ${maximum}`;
  const parse = (value: unknown) =>
    Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
      ? Number(value)
      : undefined;
  const length = Math.max(...[minimum, maximum].map((bound) => String(Math.abs(bound)).length));
  const digits = new RegExp(`^-?[0-9]{1,${length}}$`);
  const parseText = (text: unknown) =>
    digits.test(String(text)) ? parse(Number(text)) : undefined;
  return {
    expected,
    parse,
    inUrl: { expected, parse: parseText },
    inGraphql: { expected, parse },
    example: minimum,
  };
}

/** Any string. Its pattern leaves out those with escapes. */
export const text: Kind<string> = {
  name: 'text',
  expected: 'a string',
  parse: (json) => (typeof json === 'string' ? json : undefined),
  pattern: '[^"\\\\\\x00-\\x1f]*',
  isText: true,
  example: 'Contract check',
  invalid: [['wrong', 'a number', '1']],
  unknown: [['missing', 'an unknown id', 'unknown']],
};

/** A calendar date and a time of ISO 8601, extended or basic, of which all but the hour is optional. */
export const timestamp: Kind<string> = {
  ...text,
  expected: 'an ISO 8601 timestamp',
  example: '2030-12-05T00:00:00Z',
  parse: (json) => (typeof json === 'string' && isTimestamp(json) ? json : undefined),
};

const timestampPattern =
  /^(\d{4})(-?)(\d\d)\2(\d\d)T(?:(?:[01]\d|2[0-3])(?::?[0-5]\d(?::?(?:[0-5]\d|60))?)?(?:[.,]\d+)?|24(?::?00){0,2}(?:[.,]0+)?)(?:Z|[+-]\d\d(?::?\d\d)?)?$/i;

function isTimestamp(text: string): boolean {
  const [, year, , month, day] = timestampPattern.exec(text) ?? [];
  const date = `${year}-${month}-${day}`;
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.valueOf()) && midnight.toISOString().startsWith(date);
}

/** One of these words. */
export function enumeration<const Word extends string>(
  words: readonly [Word, ...Word[]],
): Kind<Word> {
  return {
    name: 'enumeration',
    expected: `one of ${words.join(', ')}`,
    parse: (json) => words.find((word) => word === json),
    pattern: words.map(RegExp.escape).join('|'),
    isText: true,
    example: words[0],
    values: words,
    invalid: [['wrong', 'an unknown word', '"unknown"']],
  };
}
