import { InvalidResponseError } from './error.ts';
import { JsonText, parseJson, sizeOfJson } from './json.ts';

/** Maximum number of JSON values per body: even a short one takes dozens of bytes of memory. */
const maxValues = 250_000;

/** Maximum nesting of a body, because clients may read it with recursive functions. */
const maxDepth = 500;

/** Parses JSON, int64-exact. @throws InvalidResponseError if it is invalid or exceeds a limit. */
export function readJson(text: string, parse: (text: string) => unknown = parseJson): unknown {
  // A shorter text cannot be nested too deeply.
  const { values, depth } = text.length > maxDepth ? sizeOfJson(text) : { values: 0, depth: 0 };
  if (values > maxValues) {
    throw new InvalidResponseError(`body: expected at most ${maxValues} JSON values.`);
  }
  if (depth > maxDepth) {
    throw new InvalidResponseError(`body: expected at most ${maxDepth} levels of nesting.`);
  }
  try {
    return parse(text);
  } catch (cause) {
    throw new InvalidResponseError('body: expected JSON, received other text.', { cause });
  }
}

/** Validates JSON and passes its text on. @throws InvalidResponseError as `readJson` does. */
export function readJsonText(text: string): JsonText {
  readJson(text, JSON.parse);
  return new JsonText(text);
}
