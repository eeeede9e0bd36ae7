import { GraphQLError, GraphQLID, GraphQLScalarType } from 'graphql';
import { builder } from './builder.ts';

builder.scalarType('DateTime', {
  description: 'An ISO 8601 timestamp, exactly as the service sent it.',
  serialize: (text) => text,
});

builder.scalarType('JSON', {
  description: 'JSON whose shape is not published, returned unchanged. Integers keep all digits.',
  serialize: (json) => json,
});

// A number that JavaScript may have rounded already. Over HTTP, such digits arrive as text.
builder.addScalarType(
  'ID',
  new GraphQLScalarType({
    ...GraphQLID.toConfig(),
    coerceInputValue(value) {
      if (!Number.isInteger(value) || Number.isSafeInteger(value)) {
        return GraphQLID.coerceInputValue(value);
      }
      throw new GraphQLError(
        `ID cannot represent ${value} exactly; pass it as a string or a bigint.`,
      );
    },
  }),
);
