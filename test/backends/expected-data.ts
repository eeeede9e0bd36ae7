import type { Kind } from '../../src/contract/fields.ts';
import { pet as petRecord } from '../../src/petstore/records.ts';
import type { Operation } from './rest/generate-response.ts';

/** The expected GraphQL result for a body. */
export interface Expected {
  /** The value of the field, as formatted by `normalized`. */
  readonly data: string;
  /** The number of invalid optional fields; each becomes null with an error. */
  readonly invalidFields: number;
}

/** A number, as its text. */
class Digits {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Returns the same text for all notations of the same number. */
  toJSON(): string {
    const value = Number(this.source);
    if (/^-?\d+$/.test(this.source)) return `number ${BigInt(this.source)}`;
    const isShort = this.source.replace(/[eE].*|\D/g, '').length <= 15;
    return `number ${isShort && Number.isFinite(value) ? value : this.source}`;
  }
}

const parse = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, { source }) =>
    typeof value === 'number' ? new Digits(source ?? '') : value,
  );

/** Formats a part of a JSON text so that equal values have equal texts. */
export function normalized(text: string, select: (json: unknown) => unknown): string {
  return JSON.stringify(select(parse(text)));
}

/**
 * Returns the expected result for a body, or undefined if the body violates the contract. Implemented
 * independently of the gateway.
 */
export function expectedData(operation: Operation, body: Buffer): Expected | undefined {
  let invalidFields = 0;
  const requireThat = (condition: boolean) => {
    if (!condition) throw new TypeError('The body violates the contract');
  };
  const toId = (id: unknown) => {
    requireThat(id instanceof Digits);
    const { source } = id as Digits;
    const [, whole = '', fraction = '', exponent = '0'] =
      /^(-?\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(source) ?? [];
    const power = BigInt(exponent) - BigInt(fraction.length);
    const shift = 10n ** (power < 0n ? -power : power);
    const digits = BigInt(whole + fraction);
    requireThat(power >= 0n || digits % shift === 0n);
    const value = power < 0n ? digits / shift : digits * shift;
    requireThat(value >= -(2n ** 63n) && value < 2n ** 63n);
    return String(value);
  };
  const read: Readonly<Record<Kind['name'], (value: unknown) => unknown>> = {
    int64: toId,
    text(value) {
      requireThat(typeof value === 'string');
      return value;
    },
    enumeration(value) {
      requireThat(['available', 'pending', 'sold'].includes(value as string));
      return value;
    },
  };
  const toPet = (json: unknown) => {
    requireThat(typeof json === 'object' && json !== null && !Array.isArray(json));
    const members = Object.values(petRecord.fields).map(({ name, kind, isRequired }) => {
      const value = (json as Record<string, unknown>)[name] ?? null;
      if (value === null && !isRequired) return [name, null];
      try {
        return [name, read[kind.name](value)];
      } catch (error) {
        if (isRequired) throw error;
        invalidFields++;
        return [name, null];
      }
    });
    return Object.fromEntries(members);
  };
  const readers: Readonly<Record<Operation, (json: unknown) => unknown>> = {
    pets(json) {
      requireThat(Array.isArray(json) && json.length <= 100);
      return (json as unknown[]).map(toPet);
    },
    addPet: toPet,
    orders(json) {
      requireThat(depthOf(json) <= 500);
      return json;
    },
    sendMessage(json) {
      const { id, message, status, createdAt } = json as Record<string, unknown>;
      for (const text of [id, message, status, createdAt]) requireThat(typeof text === 'string');
      requireThat(!Number.isNaN(Date.parse(String(createdAt).replace(':60', ':59'))));
      return { id, message, status, createdAt };
    },
  };
  try {
    requireThat(body.length <= 4 * 1024 * 1024);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    requireThat((text.match(/[,[{]/g) ?? []).length < 250_000);
    return { data: JSON.stringify(readers[operation](parse(text))), invalidFields };
  } catch {
    return undefined;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof Digits) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
