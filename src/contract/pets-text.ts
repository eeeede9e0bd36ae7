import { decodePets } from './codec.ts';
import { JsonText } from './json.ts';
import { mapPet, type Pet, type PetField, type Pets, pageSize, petFields } from './records.ts';
import { readJson } from './response-json.ts';

const fields = Object.entries(petFields);
const names = Object.keys(petFields);

/**
 * Matches one animal in the format of `JSON.stringify`; `open` begins the group of each member. Only
 * these optional fields have to be present.
 */
function animal(open: string, present: readonly string[]): string {
  const members = fields.map(([name, { kind, isRequired }], index) => {
    const quote = kind.isText ? '"' : '';
    const value = `${quote}${open}${kind.pattern})${quote}`;
    const key = `${index > 0 ? ',' : ''}"${name}":`;
    return isRequired || present.includes(name) ? key + value : `(?:${key}(?:null|${value}))?`;
  });
  return `\\{${members.join('')}\\}`;
}

function listWith(present: readonly string[]): RegExp {
  const one = animal('(?:', present);
  return new RegExp(`^\\[${one}(?:,${one}){0,${pageSize.maximum - 1}}\\]$`);
}

const optional = fields.flatMap(([name, { isRequired }]) => (isRequired ? [] : [name]));

/** Lists whose animals have all fields, and those in which optional ones are absent or null. */
const complete = listWith(optional);
const incomplete = listWith([]);
const animals = new RegExp(animal('(', []), 'g');

/** An animal whose members are the groups of `animals`. */
const groups = mapPet<unknown, unknown>({}, (_, { name }) => `$${names.indexOf(name) + 1}`) as Pet;

/** The most characters of a list that is matched, because aliases can repeat them all. */
const maxLength = 64 * 1024;

/**
 * Reads the response to `GET /pets`, which must be well-formed Unicode. A list in the usual format
 * is only checked, and decoded if it is read (docs/performance.md). `inspect` receives and returns
 * it, or the JSON of any other list.
 * @throws InvalidResponseError that names the first invalid field.
 */
export function readPets(text: string, inspect = (json: unknown) => json): Pets {
  if (text.length <= maxLength) {
    if (complete.test(text)) return inspect(new PetsText(text, true)) as PetsText;
    if (incomplete.test(text)) return inspect(new PetsText(text, false)) as PetsText;
  }
  return decodePets(inspect(readJson(text)));
}

/** The text of a valid list of animals, whose strings need no escapes in JSON. */
export class PetsText implements Iterable<Pet> {
  readonly #text: string;
  readonly #isComplete: boolean;
  #pets: readonly Pet[] | undefined;

  constructor(text: string, isComplete: boolean) {
    this.#text = text;
    this.#isComplete = isComplete;
  }

  [Symbol.iterator](): Iterator<Pet> {
    this.#pets ??= decodePets(readJson(this.#text));
    return this.#pets.values();
  }

  /**
   * Returns the number of animals, only of a status if given. No string contains quotes. The marks begin
   * with characters that are rare in the text, which are found in a quarter of the time.
   */
  count(status?: string): number {
    const mark = status ? `:"${status}"}` : '{"id":';
    let count = 0;
    for (let at = this.#text.indexOf(mark); at >= 0; at = this.#text.indexOf(mark, at + 1)) count++;
    return count;
  }

  /**
   * Writes a list with the text that `write` returns for each animal. Returns undefined if that
   * contains an optional field that an animal does not have.
   */
  writeEach(write: (pet: Pet) => string): JsonText | undefined {
    const members = write(groups);
    if (!this.#isComplete && !this.#hasEach(members)) return undefined;
    return new JsonText(this.#text.replace(animals, members));
  }

  /** Whether each animal has the optional fields whose groups are in a text. */
  #hasEach(members: string): boolean {
    const used = optional.filter((name) => members.includes(String(groups[name as PetField])));
    if (used.length === 0) return true;
    // The list is known not to have all of them.
    return used.length < optional.length && listWith(used).test(this.#text);
  }
}
