import { InvalidResponseError } from './error.ts';
import { type JsonLimits, JsonText, parseBounded } from './json.ts';

/** Even a short value takes dozens of bytes of memory. */
const limits: JsonLimits = {
  maxValues: 250_000,
  refuse: (problem, cause) => new InvalidResponseError(problem, { cause }),
};

/** Parses JSON, int64-exact. @throws InvalidResponseError if it is invalid or exceeds a limit. */
export function readJson(text: string): unknown {
  return parseBounded('body', text, limits);
}

/** Validates JSON and passes its text on. @throws InvalidResponseError as `readJson` does. */
export function readJsonText(text: string): JsonText {
  parseBounded('body', text, limits, (json) => JSON.parse(json));
  return new JsonText(text);
}
