/** Minimum length of a key to redact. A shorter key is no secret and may match any word. */
const minKeyLength = 8;

/** Maximum number of nested encodings to decode. */
const maxNesting = 3;

/**
 * Redacts the caller's key in a text of the service. If the text contains the key in another
 * encoding (percent, base64, hex, escapes), redacts the whole text, because the position of the key
 * is unknown.
 */
export function redactKey(text: string, apiKey: string): string {
  if (apiKey.length < minKeyLength) return text;
  const plain = text.replaceAll(apiKey, '[API key]');
  return containsKey(plain, apiKey.toLowerCase(), maxNesting) ? '[text with the API key]' : plain;
}

function containsKey(text: string, lowerCaseKey: string, nesting: number): boolean {
  if (text.toLowerCase().includes(lowerCaseKey)) return true;
  if (nesting === 0) return false;
  return decodings(text, lowerCaseKey.length).some((decoded) =>
    containsKey(decoded, lowerCaseKey, nesting - 1),
  );
}

/** Decodes a text in all supported ways; returns the results that are long enough for the key. */
function decodings(text: string, minLength: number): string[] {
  const decoded = [
    // %41, \x41, \u0041, &#x41;
    text.replace(/(?:%|\\x|\\u00|&#x)([0-9a-f]{2});?/gi, (_, code: string) => character(code, 16)),
    // &#65;
    text.replace(/&#([0-9]{2,3});/g, (_, code: string) => character(code, 10)),
  ];
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{8,}/g)) {
    if (run.length < minLength) continue;
    // Four characters encode three bytes, and the run may start with unrelated characters.
    for (let start = 0; start < 4; start++) {
      decoded.push(Buffer.from(run.slice(start), 'base64').toString('latin1'));
    }
    const [hex = ''] = /^(?:[0-9a-f]{2})+/i.exec(run) ?? [];
    decoded.push(Buffer.from(hex, 'hex').toString('latin1'));
  }
  return decoded.filter((one) => one !== text && one.length >= minLength);
}

function character(code: string, radix: number): string {
  return String.fromCharCode(Number.parseInt(code, radix));
}
