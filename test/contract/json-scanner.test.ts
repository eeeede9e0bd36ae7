import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScanner } from '../../src/contract/json-scanner.ts';
import { fuzzed } from '../support/fuzzed.ts';

/** Scans a text in slices of this many bytes. @returns whether it is JSON. */
function isJson(text: string, slice: number): boolean {
  const scanner = new JsonScanner();
  const bytes = Buffer.from(text);
  try {
    for (let start = 0; start < bytes.length; start += slice) {
      scanner.push(bytes.subarray(start, start + slice));
    }
    scanner.end();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return false;
  }
}

function canParse(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const slices = fc.integer({ min: 1, max: 9 });
/** Texts of the characters and words that JSON consists of. */
const almostJson = fc
  .array(fc.constantFrom(...'[]{}:,"\\ \n\t019-+.eEuatrfnlsé\u0001', 'true', 'null', '"a":', '1'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));
/** JSON in which one character is deleted or replaced. */
const damagedJson = fc
  .tuple(fc.json(), fc.nat(), fc.constantFrom('', ...'[]{}:,"\\ 0-.eE\u0000'))
  .map(([text, at, other]) => {
    const index = at % text.length;
    return text.slice(0, index) + other + text.slice(index + 1);
  });

describe('the scanner of JSON', () => {
  it('accepts what JSON.parse accepts, in slices of any size', () => {
    const texts = fc.oneof(almostJson, damagedJson, fc.json());
    fc.assert(
      fc.property(texts, slices, (text, slice) => {
        expect([text, isJson(text, slice)]).toEqual([text, canParse(text)]);
      }),
      fuzzed(2000),
    );
  });

  // One per line, in slices of one byte.
  it.each(
    String.raw`
[
[1,]
{"a":1,}
{,}
[,1]
[1 2]
{"a" 1}
{"a"}
{1:2}
[1}
01
-01
1.
.5
1e+
+1
"a
"\x"
"\u12g4"
tru
false1
-0.0e-1
1E+5
 [ ]
{ "a" : [ ] , "b":{}}
"\u00e9\n\""
"🐕"`.split('\n'),
  )('judges %j like JSON.parse', (text) => {
    expect(isJson(text, 1)).toBe(canParse(text));
  });

  it('counts levels and values', () => {
    const scanner = new JsonScanner();
    scanner.push(Buffer.from('[1,{"a,[":[]},"[[,"'));
    expect([scanner.depth, scanner.values]).toEqual([3, 6]);
  });
});
