import { decodePets } from './codec.ts';
import type { Field } from './fields.ts';
import { JsonText } from './json.ts';
import { mapPet, type Pet, type Pets, pageSize, petFields } from './records.ts';
import { readJson } from './response-json.ts';

const fields: readonly Field[] = Object.values(petFields);

/**
 * Matches one pet in the format of `JSON.stringify`; `open` begins the group of each member.
 * Optional fields may be absent or null unless it is complete.
 */
function pet(open: string, isComplete: boolean): string {
  const members = fields.map(({ name, kind, isRequired }, index) => {
    const quote = kind.isText ? '"' : '';
    const value = `${quote}${open}${kind.pattern})${quote}`;
    const key = `${index > 0 ? ',' : ''}"${name}":`;
    return isRequired || isComplete ? key + value : `(?:${key}(?:null|${value}))?`;
  });
  return `\\{${members.join('')}\\}`;
}

function listOf(one: string): RegExp {
  return new RegExp(`^\\[${one}(?:,${one}){0,${pageSize.maximum - 1}}\\]$`);
}

const complete = listOf(pet('(?:', true));
const incomplete = listOf(pet('(?:', false));
const pets = new RegExp(pet('(', false), 'g');

/** A pet whose members are the groups of `pets`, and those of optional fields. */
const groupOf = (field: Field) => `$${fields.indexOf(field) + 1}`;
const groups = mapPet<unknown, unknown>({}, (_, field) => groupOf(field)) as Pet;
const optional = fields.filter(({ isRequired }) => !isRequired).map(groupOf);

/** The most characters of a list that is matched, because aliases can repeat them all. */
const maxLength = 64 * 1024;

/**
 * Reads the response to `GET /pets`, which must be well-formed Unicode. A list in the usual format
 * is only checked, and decoded if it is read (docs/performance.md).
 * @throws InvalidResponseError that names the first invalid field.
 */
export function readPets(text: string): Pets {
  if (text.length <= maxLength) {
    if (complete.test(text)) return new PetsText(text, true);
    if (incomplete.test(text)) return new PetsText(text, false);
  }
  return decodePets(readJson(text));
}

/** The text of a valid list of pets, whose strings need no escapes in JSON. */
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

  /** Writes the text of each pet; undefined if it has an optional field that one may lack. */
  writeEach(write: (pet: Pet) => string): JsonText | undefined {
    const members = write(groups);
    if (!this.#isComplete && optional.some((group) => members.includes(group))) return undefined;
    return new JsonText(this.#text.replace(pets, members));
  }
}
