import { decodePets } from './codec.ts';
import { JsonText } from './json.ts';
import { type Pet, type PetStatus, type Pets, pageSize, petStatuses } from './records.ts';
import { readJson } from './response-json.ts';

/** Integers up to ±9.2e18, which are all int64s; `decodePets` checks the range of larger ones. */
const int64 = '(0|-?[1-9][0-9]{0,17}|-?(?:[1-8][0-9]|9[01])[0-9]{17})';
/** A string without escapes. */
const string = '"([^"\\\\\\x00-\\x1f]*)"';
const status = `(?:null|"(${petStatuses.join('|')})")`;
/** One animal of a list in the format of `JSON.stringify`, and the comma or the end behind it. */
const animal = new RegExp(
  `\\{"id":${int64},"name":${string},"categoryId":${int64}(?:,"status":${status})?\\}(?:,(?!$)|\\]$)`,
  'y',
);

/** The most characters of a list that is matched, because aliases can repeat them all. */
const maxLength = 64 * 1024;

/**
 * Reads the response to `GET /pets`, which must be well-formed Unicode. Matching a list in the
 * usual format takes a third of the time of `decodePets` (docs/performance.md), which reads all
 * others.
 * @throws InvalidResponseError that names the first invalid field.
 */
export function readPets(text: string): Pets {
  const pets: Pet[] = [];
  const isShort = text.startsWith('[') && text.length <= maxLength;
  animal.lastIndex = 1;
  while (isShort && pets.length < pageSize.maximum) {
    const match = animal.exec(text) as [string, string, string, string, PetStatus?] | null;
    if (match === null) break;
    const [, id, name, categoryId, word] = match;
    pets.push(
      word === undefined ? { id, name, categoryId } : { id, name, categoryId, status: word },
    );
    if (animal.lastIndex === text.length) return new PlainPets(pets);
  }
  return decodePets(readJson(text));
}

/** Animals without errors, whose strings need no escapes in JSON. */
export class PlainPets implements Iterable<Pet> {
  readonly #pets: readonly Pet[];

  constructor(pets: readonly Pet[]) {
    this.#pets = pets;
  }

  [Symbol.iterator](): Iterator<Pet> {
    return this.#pets.values();
  }

  /** Writes a list with the text that `write` returns for each animal. */
  writeEach(write: (pet: Pet) => string): JsonText {
    let text = '';
    for (const pet of this.#pets) text += `${text === '' ? '[' : ','}${write(pet)}`;
    return new JsonText(`${text}]`);
  }
}
