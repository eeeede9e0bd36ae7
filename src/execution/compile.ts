import { tracingChannel } from 'node:diagnostics_channel';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { conditionsOf, maxConditions, type VariableValues } from './field-collector.ts';
import { type Plan, planOperation } from './plan.ts';

/** That of graphql-js (`GraphQLExecuteContext`), to which monitoring tools subscribe. */
const channel = tracingChannel('graphql:execute');

/**
 * Compiles the operation of a valid document without `@defer`. Its result is that of graphql-js, and is
 * published to its tracing channel. Returns undefined for an operation with too many conditions.
 *
 * Compiled code relies on what is true of root fields of the contract (`contractResolver`): they
 * are nullable, and their resolvers use only `path.key` of `info` and return records, lists of them
 * or JSON text, or reject; below them are no resolvers. The fallback executor has all other fields.
 */
export function compileOperation(schema: GraphQLSchema, document: DocumentNode) {
  const operation = getOperationAST(document);
  const conditions = conditionsOf(document);
  if (!operation || conditions.length > maxConditions) return undefined;
  const definitions = operation.variableDefinitions ?? [];
  const plans = new Map<string, Plan | 'not compilable' | 'used once'>();

  /**
   * Executes the operation. Returns undefined if the fallback executor has to execute it: to report
   * invalid variables; at the first use of a variant, because generating code costs more than
   * executing once; and if the variables include a selection that cannot be compiled.
   */
  return (context: object, given: Readonly<Record<string, unknown>>) => {
    const { variableValues } = getVariableValues(schema, definitions, given, errorOptions);
    if (variableValues === undefined) return undefined;
    const variant = conditions.map((name) => variableValues.coerced[name]).join();
    const known = plans.get(variant) ?? 'unused';
    const execute = known === 'used once' ? plan(variableValues) : known;
    if (execute === 'unused') plans.set(variant, 'used once');
    else if (execute !== known) plans.set(variant, execute);
    if (typeof execute !== 'function') return undefined;
    if (!channel.hasSubscribers) return execute(context, variableValues);
    const { operation: operationType, name } = operation;
    const started = { schema, document, rawVariableValues: given, operationName: name?.value };
    const traced = { ...started, operationType };
    return channel.tracePromise(execute, traced, undefined, context, variableValues);
  };

  function plan(variables: VariableValues): Plan | 'not compilable' {
    try {
      return planOperation(schema, document, operation as OperationDefinitionNode, variables);
    } catch {
      return 'not compilable';
    }
  }
}

/** The errors are not read, and each quotes the whole value. */
const errorOptions = { maxErrors: 1, hideSuggestions: true };
