import { decodePets } from './codec.ts';
import { parseJson } from './json.ts';
import { createPetsWriter, maxListLength } from './pets-writer.ts';
import { type Pet, pageSize, petStatuses } from './records.ts';

// This file and `pets-writer.ts` exist for speed: checking the text and copying properties out of
// it takes a quarter of the time of parsing, copying, completing and stringifying objects
// (docs/performance.md).

/**
 * Integers up to ±9.2e18, which are all int64s. A list with a larger one is left to `decodePets`,
 * which checks the range.
 */
const int64 = '(?:0|-?[1-9][0-9]{0,17}|-?(?:[1-8][0-9]|9[01])[0-9]{17})';
/** A string without escapes, which can be copied unchanged. */
const string = '"[^"\\\\\\x00-\\x1f]*"';
const status = `(?:null|${petStatuses.map((word) => `"${word}"`).join('|')})`;
const record = `\\{"id":${int64},"name":${string},"categoryId":${int64}(?:,"status":${status})?\\}`;
const list = new RegExp(`^\\[(?:${record}(?:,${record}){0,${pageSize.maximum - 1}})?\\]$`);

/** What all lists of animals have in common. */
export const petsFormat = {
  /**
   * The format of each property's text: digits, a JSON string, or one of these JSON strings or
   * null.
   */
  properties: { id: 'digits', name: 'string', categoryId: 'digits', status: petStatuses },
  createWriter: createPetsWriter,
} as const;

/**
 * Animals as the unparsed text of a `GET /pets` response, checked against the contract. Iteration
 * decodes them; a writer of their format copies their properties without decoding.
 */
export class PetsText implements Iterable<Pet> {
  readonly format = petsFormat;
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /**
   * Accepts a list in the format of `JSON.stringify`: no spaces, the members in the contract's
   * order, no escapes. Returns undefined for any other text, which can still be valid for
   * `decodePets`. The text must be well-formed Unicode, as text decoded from UTF-8 is.
   */
  static match(text: string): PetsText | undefined {
    return text.length <= maxListLength && list.test(text) ? new PetsText(text) : undefined;
  }

  [Symbol.iterator](): Iterator<Pet> {
    return decodePets(parseJson(this.text)).values();
  }
}
