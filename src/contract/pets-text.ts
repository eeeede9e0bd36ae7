import { decodePets } from './codec.ts';
import { JsonText } from './json.ts';
import { type Pet, type Pets, pageSize, petFields } from './records.ts';
import { readJson } from './response-json.ts';

const fields = Object.values(petFields);

/** Matches one animal in the format of `JSON.stringify`; `open` begins the group of each member. */
const animal = (open: string) => {
  const members = fields.map(({ name, kind: { pattern, isText } }) => {
    const quote = isText ? '"' : '';
    return `"${name}":${quote}${open}${pattern})${quote}`;
  });
  return `\\{${members.join()}\\}`;
};
const list = new RegExp(`^\\[${animal('(?:')}(?:,${animal('(?:')}){0,${pageSize.maximum - 1}}\\]$`);
const animals = new RegExp(animal('('), 'g');

/** An animal whose members are the groups of `animals`. */
const groups = Object.fromEntries(
  fields.map(({ name }, index) => [name, `$${index + 1}`]),
) as unknown as Pet;

/** The most characters of a list that is matched, because aliases can repeat them all. */
const maxLength = 64 * 1024;

/**
 * Reads the response to `GET /pets`, which must be well-formed Unicode. A list in the usual format
 * whose animals have all fields is only checked, and decoded if it is read (docs/performance.md).
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

  /** Writes a list with the text that `write` returns for each animal. */
  writeEach(write: (pet: Pet) => string): JsonText {
    return new JsonText(this.#text.replace(animals, write(groups)));
  }
}
