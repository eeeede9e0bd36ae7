import type { PetStoreBuilder } from './builder.ts';

/** Adds the scalars. */
export function addScalars(builder: PetStoreBuilder): void {
  builder.scalarType('DateTime', {
    description: 'An ISO 8601 timestamp, exactly as the service sent it.',
    serialize: (text) => text,
  });
  builder.scalarType('JSON', {
    description: 'JSON whose shape is not published, returned unchanged. Integers keep all digits.',
    serialize: (json) => json,
  });
}
