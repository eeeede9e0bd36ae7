import { InvalidInputError } from '../contract/error.ts';
import { type Int64, parseInt64 } from '../contract/int64.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', {
  description: 'An ISO 8601 timestamp, exactly as the service sent it.',
  serialize: (text) => text,
});

builder.scalarType('JSON', {
  description: 'JSON whose shape is not published, returned unchanged. Integers keep all digits.',
  serialize: (json) => json,
});

/**
 * The int64 of an ID.
 * @throws InvalidInputError when it is not a decimal integer or does not fit in 64 bits.
 */
export function int64Argument(name: string, id: string): Int64 {
  const int64 = parseInt64(id);
  if (int64 !== undefined) return int64;
  const received = id.length > 60 ? `${id.slice(0, 60)}…` : id;
  throw new InvalidInputError(
    `${name}: expected a whole number from -2^63 to 2^63-1, received ${JSON.stringify(received)}.`,
  );
}
