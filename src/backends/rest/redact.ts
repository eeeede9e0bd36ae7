/** A shorter key is no secret, and may be a part of any word. */
const shortestSecret = 8;

/** How often one encoding may be wrapped into another. */
const maxNesting = 3;

/**
 * A text of the service without the caller's key. Where it holds the key in another encoding
 * (percent, base64, hex, escapes), nothing of the text is left, since its parts can't be told apart.
 */
export function withoutKey(text: string, apiKey: string): string {
  if (apiKey.length < shortestSecret) return text;
  const plain = text.replaceAll(apiKey, '[API key]');
  return holdsKey(plain, apiKey.toLowerCase(), maxNesting) ? '[a text with the API key]' : plain;
}

function holdsKey(text: string, lowerCaseKey: string, nesting: number): boolean {
  if (text.toLowerCase().includes(lowerCaseKey)) return true;
  if (nesting === 0) return false;
  return decodings(text, lowerCaseKey.length).some((decoded) =>
    holdsKey(decoded, lowerCaseKey, nesting - 1),
  );
}

/** What a text may stand for, where that is long enough to hold the key. */
function decodings(text: string, minLength: number): string[] {
  const decoded = [
    // %41, \x41, \u0041, &#x41;
    text.replace(/(?:%|\\x|\\u00|&#x)([0-9a-f]{2});?/gi, (_, code: string) => character(code, 16)),
    // &#65;
    text.replace(/&#([0-9]{2,3});/g, (_, code: string) => character(code, 10)),
  ];
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{8,}/g)) {
    if (run.length < minLength) continue;
    // Four letters are three bytes: the run may begin with letters that belong to something else.
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
