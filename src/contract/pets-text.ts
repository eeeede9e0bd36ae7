import { decodePets } from './codec.ts';
import { JsonText } from './json.ts';
import { type Pet, type Pets, pageSize, petStatuses } from './records.ts';
import { readJson } from './response-json.ts';

/** Integers up to ±9.2e18, which are all int64s; `decodePets` checks the range of larger ones. */
const int64 = '0|-?[1-9][0-9]{0,17}|-?(?:[1-8][0-9]|9[01])[0-9]{17}';
/** Characters of a string that need no escape. */
const characters = '[^"\\\\\\x00-\\x1f]*';
const statuses = petStatuses.join('|');

/** Matches one animal in the format of `JSON.stringify`; `open` begins the group of each member. */
const animal = (open: string) =>
  `\\{"id":${open}${int64}),"name":"${open}${characters})","categoryId":${open}${int64})(?:,"status":(?:null|"${open}${statuses})"))?\\}`;
const list = new RegExp(`^\\[${animal('(?:')}(?:,${animal('(?:')}){0,${pageSize.maximum - 1}}\\]$`);
const animals = new RegExp(animal('('), 'g');
const withoutStatus = /"status":null\}|[0-9]\}/;

/** An animal whose members are the groups of `animals`. */
const groups = { id: '$1', name: '$2', categoryId: '$3', status: '$4' as Pet['status'] & string };

/** The most characters of a list that is matched, because aliases can repeat them all. */
const maxLength = 64 * 1024;

/**
 * Reads the response to `GET /pets`, which must be well-formed Unicode. A list in the usual format
 * is only checked, and decoded if it is read (docs/performance.md).
 * @throws InvalidResponseError that names the first invalid field.
 */
export function readPets(text: string): Pets {
  if (text.length <= maxLength && list.test(text)) return new PetsText(text);
  return decodePets(readJson(text));
}

/** The text of a valid list of animals, whose strings need no escapes in JSON. */
export class PetsText implements Iterable<Pet> {
  readonly #text: string;
  #pets: readonly Pet[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  [Symbol.iterator](): Iterator<Pet> {
    this.#pets ??= decodePets(readJson(this.#text));
    return this.#pets.values();
  }

  /**
   * Writes a list with the text that `write` returns for each animal. Returns undefined if that
   * contains the status, and an animal has none.
   */
  writeEach(write: (pet: Pet) => string): JsonText | undefined {
    const members = write(groups);
    if (members.includes(groups.status) && withoutStatus.test(this.#text)) return undefined;
    return new JsonText(this.#text.replace(animals, members));
  }
}
