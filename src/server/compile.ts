import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';

/**
 * Executes an operation that was compiled; undefined when its variables can't be read, which is then
 * for the reference executor, whose words clients know.
 */
export type CompiledOperation = (
  context: object,
  variables: object,
) => ExecutionResult | Promise<ExecutionResult> | undefined;

/**
 * Compiles an operation of a valid document; undefined where compiled code would not answer exactly
 * as the reference executor does.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): CompiledOperation | undefined {
  if (!isCompilable(schema, document)) return undefined;
  const compiled = compileQuery(schema, document, operationName);
  if (!isCompiledQuery(compiled)) return undefined;
  return (context, variables) => {
    const result = compiled.query(undefined, context, variables);
    // Only variables that can't be read end an operation before it begins, without a promise.
    return 'then' in result || result.data !== undefined ? result : undefined;
  };
}

/**
 * graphql-jit merges the conditions of repeated selections wrongly, and lets null through where a
 * nullable variable with a default stands for a value that must not be null.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  let isSafe = true;
  const nullable = new Set<string>();
  const typeInfo = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Directive() {
        isSafe = false;
      },
      VariableDefinition({ type, variable }) {
        if (type.kind !== Kind.NON_NULL_TYPE) nullable.add(variable.name.value);
      },
      Variable({ name }, _key, parent) {
        const isUse = !(parent && 'kind' in parent && parent.kind === Kind.VARIABLE_DEFINITION);
        if (isUse && nullable.has(name.value) && isNonNullType(typeInfo.getInputType())) {
          isSafe = false;
        }
      },
    }),
  );
  return isSafe;
}
