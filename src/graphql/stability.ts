import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLNonNull,
  type GraphQLSchema,
  GraphQLString,
  resolveSchemaCoordinate,
} from 'graphql';
import { type OperationId, operations } from '../contract/pet-store.ts';

/** The stability of an operation (the extension `x-stability` of the OpenAPI document). */
export type Stability = 'experimental' | 'beta';

/** The stability of the marked operations, by operation id of the OpenAPI document. */
export type OperationStability = Readonly<Record<string, Stability>>;

/** Marks the fields of unstable operations. A schema without such a field does not define it. */
export const stabilityDirective = new GraphQLDirective({
  name: 'stability',
  description: 'The stability of the REST operation of the field.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    level: { type: new GraphQLNonNull(GraphQLString), description: '`experimental` or `beta`.' },
  },
});

/** Marks fields, also in `extensions.directives` for tools. @throws for an unknown operation. */
export function markStability(schema: GraphQLSchema, stability: OperationStability): void {
  for (const [operationId, level] of Object.entries(stability)) {
    const coordinate = operations[operationId as OperationId]?.field;
    const found = coordinate ? resolveSchemaCoordinate(schema, coordinate) : undefined;
    if (found?.kind !== 'Field') {
      throw new Error(`x-stability: expected a field for ${operationId}, found none.`);
    }
    const { field } = found;
    field.description = `${field.description}\n\nStability: ${level}.`;
    field.extensions = { ...field.extensions, directives: { stability: { level } } };
  }
}
