import { InvalidResponseError } from './error.ts';
import { JsonText, parseJson } from './json.ts';
import { JsonScanner } from './json-scanner.ts';

/** Parses JSON, int64-exact. @throws InvalidResponseError if it is invalid or has too many values. */
export function readJson(text: string): unknown {
  try {
    if (text.length > maxValues) scan(new JsonScanner(), text);
    return parseJson(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
}

/**
 * Validates JSON without parsing it. Calls `pause` between the slices of a long text.
 * @throws InvalidResponseError if it is invalid, has too many values or is nested too deeply.
 */
export async function readJsonText(text: string, pause: () => Promise<void>): Promise<JsonText> {
  const scanner = new JsonScanner();
  try {
    for (let start = 0; start < text.length; start += sliceLength) {
      if (start > 0) await pause();
      scan(scanner, text.slice(start, start + sliceLength));
    }
    scanner.end();
  } catch (cause) {
    throw invalidJson(cause);
  }
  return new JsonText(text);
}

/** The characters that are validated without a pause, which takes half a millisecond. */
const sliceLength = 128 * 1024;

function scan(scanner: JsonScanner, text: string): void {
  scanner.push(Buffer.from(text));
  if (scanner.values > maxValues) {
    throw new InvalidResponseError(`body: expected at most ${maxValues} JSON values.`);
  }
  if (scanner.depth > maxDepth) {
    throw new InvalidResponseError(`body: expected at most ${maxDepth} levels of nesting.`);
  }
}

/**
 * Maximum number of JSON values per body, because even a short value takes dozens of bytes of
 * memory.
 */
const maxValues = 250_000;

/** Maximum nesting of a body, because clients may read it with recursive functions. */
const maxDepth = 500;

function invalidJson(cause: unknown): InvalidResponseError {
  if (cause instanceof InvalidResponseError) return cause;
  return new InvalidResponseError('body: expected JSON, received other text.', { cause });
}
