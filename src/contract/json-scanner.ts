/**
 * The grammar of JSON (RFC 8259) as a state machine: each state, then pairs of characters and the
 * state that follows them.
 */
const grammar = String.raw`value space value " string - minus 0 zero 1-9 integer t t f f n n [{ open
  firstItem ] close space firstItem " string - minus 0 zero 1-9 integer t t f f n n [{ open
  firstKey space firstKey " key } close; nextKey space nextKey " key
  after space after , comma ]} close; colon space colon : value
  key " colon \ key\; key\ "\/bfnrt key u key4
  key4 hex key3; key3 hex key2; key2 hex key1; key1 hex key
  string " after \ string\; string\ "\/bfnrt string u string4
  string4 hex string3; string3 hex string2; string2 hex string1; string1 hex string
  t r tr; tr u e; f a fa; fa l fal; fal s e; e e after; n u nu; nu l nul; nul l after
  minus 0 zero 1-9 integer; zero . point eE exponent space space , comma ]} close
  integer 0-9 integer . point eE exponent space space , comma ]} close
  point 0-9 fraction; fraction 0-9 fraction eE exponent space space , comma ]} close
  exponent +- sign 0-9 power; sign 0-9 power; power 0-9 power space space , comma ]} close`;

const rows = grammar.split(/;|\n/).map((row) => row.trim().split(' '));
/** First the actions, which code performs. That of a space after a number is the last. */
const actions = ['invalid', 'open', 'close', 'comma', 'space'];
const states = [...actions, ...rows.map(([name]) => name)];
const [open, close, comma, lastAction] = [1, 2, 3, 4];
const [value, firstItem, firstKey, nextKey, after] = [5, 6, 7, 8, 9];

const classes: Readonly<Record<string, string>> = {
  space: ' \t\n\r',
  '0-9': '0123456789',
  '1-9': '123456789',
  hex: '0123456789abcdefABCDEF',
};

/** The next state, by state and byte. */
const table = new Uint8Array(states.length * 256);
for (const text of ['key', 'string'].map((name) => states.indexOf(name))) {
  table.fill(text, text * 256 + 0x20, text * 256 + 256);
}
for (const [name = '', ...pairs] of rows) {
  for (let index = 0; index < pairs.length; index += 2) {
    const [characters = '', next = ''] = pairs.slice(index);
    for (const byte of Buffer.from(classes[characters] ?? characters)) {
      table[states.indexOf(name) * 256 + byte] = states.indexOf(next);
    }
  }
}

/**
 * Validates JSON without parsing it, in slices of any size. Takes half of the time of `JSON.parse`
 * (docs/performance.md).
 */
export class JsonScanner {
  /** Maximum nesting of arrays and objects so far. */
  depth = 0;
  /** Upper bound of the number of values: one, plus one for each comma and opening bracket. */
  values = 1;
  /** Whether each open bracket is that of an object. */
  readonly #objects: boolean[] = [];
  #state = value;

  /** Scans the next bytes of UTF-8. @throws SyntaxError if they are not JSON. */
  push(bytes: Uint8Array): void {
    let state = this.#state;
    for (let index = 0; ; index++) {
      // An inner loop without calls halves the time.
      for (; index < bytes.length; index++) {
        state = table[state * 256 + (bytes[index] as number)] as number;
        if (state <= lastAction) break;
      }
      if (index >= bytes.length) break;
      state = this.#act(state, (bytes[index] as number) >= openingBrace);
    }
    this.#state = state;
  }

  /** @throws SyntaxError if the JSON is incomplete. */
  end(): void {
    this.push(Buffer.from(' '));
    if (this.#state !== after || this.#objects.length > 0) throw new SyntaxError(notJson);
  }

  /** Performs an action. Returns the state that follows it. */
  #act(action: number, isObject: boolean): number {
    const objects = this.#objects;
    if (action === open) {
      this.values++;
      this.depth = Math.max(this.depth, objects.push(isObject));
      return isObject ? firstKey : firstItem;
    }
    if (action === comma && objects.length > 0) {
      this.values++;
      return objects.at(-1) ? nextKey : value;
    }
    if (action === lastAction || (action === close && objects.pop() === isObject)) return after;
    throw new SyntaxError(notJson);
  }
}

const openingBrace = 0x7b;

const notJson = 'Expected JSON, received other text';
