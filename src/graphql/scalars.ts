import { InvalidInputError } from '../contract/error.ts';
import { parseInt64 } from '../contract/int64.ts';
import type { Int64 } from '../contract/records.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', {
  description: 'A timestamp as ISO 8601 text, exactly as the service sent it.',
  serialize: (text) => text,
});

builder.scalarType('JSON', {
  description:
    'JSON of a shape that is not published, passed through as it is. Integers keep all their digits.',
  serialize: (json) => json,
});

/**
 * The int64 that an ID names.
 * @throws InvalidInputError when it is not a whole number in decimal, or beyond 64 bits.
 */
export function int64Argument(name: string, id: string): Int64 {
  const int64 = parseInt64(id);
  if (int64 !== undefined) return int64;
  const received = id.length > 60 ? `${id.slice(0, 60)}…` : id;
  throw new InvalidInputError(
    `${name}: expected a whole number from -2^63 to 2^63-1, received ${JSON.stringify(received)}.`,
  );
}
