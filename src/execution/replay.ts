import type {
  DocumentNode,
  ExecutionResult,
  GraphQLObjectType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import { executeWhole } from './execute-whole.ts';
import { type Execution, Thrown } from './execution.ts';

/** An operation that was compiled. */
export interface CompiledSource {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The type of the root fields. */
  readonly root: GraphQLObjectType;
}

/**
 * Executes an operation with graphql-js after compiled code stopped at a value. Root fields that were
 * resolved keep what their resolvers returned: no resolver runs twice, which a mutation depends on.
 * The remaining ones are resolved now. Only scalars and getters of values may see a second read.
 */
export async function replay(
  source: CompiledSource,
  keys: readonly string[],
  { context, given, variables, outcomes }: Execution,
): Promise<ExecutionResult> {
  const { schema, document, operation, root } = source;
  const getField: GraphQLSchema['getField'] = (parent, name) => {
    const field = schema.getField(parent, name);
    const resolve = field?.resolve;
    if (parent !== root || resolve === undefined) return field;
    const resolveOnce = (...[parentValue, args, ctx, info]: Parameters<typeof resolve>) => {
      const index = keys.indexOf(String(info.path.key));
      if (!isOf(info) || !(index in outcomes)) return resolve(parentValue, args, ctx, info);
      const outcome = outcomes[index];
      if (outcome instanceof Thrown) throw outcome.error;
      return outcome;
    };
    return Object.create(field ?? null, { resolve: { value: resolveOnce } });
  };
  /** False when a resolver executes another operation with the schema that it was given. */
  const isOf = (info: GraphQLResolveInfo) => info.operation === operation;
  return await executeWhole(
    {
      schema: Object.create(schema, { getField: { value: getField } }),
      document,
      operationName: operation.name?.value ?? null,
      contextValue: context,
      variableValues: given,
    },
    variables,
  );
}
