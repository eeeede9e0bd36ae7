/** The depth and the number of values of a JSON text. */
export interface JsonDimensions {
  /** Maximum nesting of arrays and objects. */
  readonly depth: number;
  /** Upper bound of the number of values: one, plus one for each comma and opening bracket. */
  readonly values: number;
}

/**
 * Measures JSON text in one pass without parsing it. Ignores the contents of strings. `onNumber`
 * receives the start and end of each number. The text may be invalid.
 */
export function scanJson(
  text: string,
  onNumber?: (start: number, end: number) => void,
): JsonDimensions {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfString(text, index);
    else if (code === comma) values++;
    else if (code === bracket || code === brace) {
      values++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (code === closingBracket || code === closingBrace) depth--;
    else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, index + 1);
      onNumber?.(index, end);
      index = end - 1;
    }
  }
  return { depth: deepest, values };
}

const [quote, backslash, comma, plus, minus, point] = [0x22, 0x5c, 0x2c, 0x2b, 0x2d, 0x2e];
const [bracket, closingBracket, brace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const [upperCaseE, lowerCaseE] = [0x45, 0x65];

/** Returns the index of the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) break;
    if (code === backslash) index++;
  }
  return index;
}

/** Returns the index after the last consecutive character that a number may contain. */
function endOfNumber(text: string, start: number): number {
  let index = start;
  while (index < text.length && isOfNumber(text.charCodeAt(index))) index++;
  return index;
}

function isOfNumber(code: number): boolean {
  if (isDigit(code) || code === point || code === minus || code === plus) return true;
  return code === lowerCaseE || code === upperCaseE;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
