/**
 * Parses JSON as `JSON.parse` does, except that integers which it would round, beyond 2^53, become strings of
 * their digits: `orders` may contain some. Needs no `context` of a reviver, which older browsers lack.
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(/\d{16}/.test(text) ? text.replace(token, quoteInteger) : text);
}

/** A string, or a number. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

function quoteInteger(text: string): string {
  const isRounded = /^-?[1-9]\d*$/.test(text) && !Number.isSafeInteger(Number(text));
  return isRounded ? `"${text}"` : text;
}
