import type {
  DocumentNode,
  ExecutionResult,
  GraphQLObjectType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql';
import { type Execution, Thrown } from './execution.ts';
import { executeFallback } from './fallback-executor.ts';

/** An operation to compile. */
export interface CompiledSource {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The type of the root fields. */
  readonly root: GraphQLObjectType;
}

/**
 * Executes an operation with the fallback executor after compiled code met an unsupported value. It
 * reuses the results of root resolvers that have run, so that no mutation runs twice, and runs the
 * others. Only scalars are serialized, and getters called, a second time.
 */
export async function resumeInFallback(
  source: CompiledSource,
  keys: readonly string[],
  { context, rawVariables, variables, rootResults }: Execution,
): Promise<ExecutionResult> {
  const { schema, document, operation, root } = source;
  const getField: GraphQLSchema['getField'] = (parent, name) => {
    const field = schema.getField(parent, name);
    const resolve = field?.resolve;
    if (parent !== root || resolve === undefined) return field;
    const resolveOnce = (...[parentValue, args, ctx, info]: Parameters<typeof resolve>) => {
      const index = keys.indexOf(String(info.path.key));
      if (!isOfOperation(info) || !(index in rootResults)) {
        return resolve(parentValue, args, ctx, info);
      }
      const result = rootResults[index];
      if (result instanceof Thrown) throw result.error;
      return result;
    };
    return Object.create(field ?? null, { resolve: { value: resolveOnce } });
  };
  /** Returns false if a resolver executes another operation with this schema. */
  const isOfOperation = (info: GraphQLResolveInfo) => info.operation === operation;
  return await executeFallback(
    {
      schema: Object.create(schema, { getField: { value: getField } }),
      document,
      operationName: operation.name?.value ?? null,
      contextValue: context,
      variableValues: rawVariables,
    },
    variables,
  );
}
