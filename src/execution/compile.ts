import { tracingChannel } from 'node:diagnostics_channel';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import {
  type CollectFields,
  conditionsOf,
  createCollectFields,
  maxConditions,
  type SelectedField,
  type VariableValues,
} from './field-collector.ts';
import { planRecord } from './record.ts';

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

/** Executes a planned operation with coerced variables. */
type Plan = (context: object, variables: VariableValues) => Promise<ExecutionResult>;

/** Completes the value of the root field with this response key. */
type Complete = (value: unknown, errors: GraphQLError[], key: string) => unknown;

/** Plans an operation for these values of its conditions. @throws if graphql-js must execute it. */
function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: VariableValues,
): Plan {
  const root = schema.getRootType(operation.operation);
  if (!root) throw new TypeError('not compilable');
  const collect = createCollectFields(document, variables);
  const fields = collect(root, [operation]).map((field) => ({
    key: field.key,
    execute: planField(field, root, collect),
  }));
  const isMutation = operation.operation === OperationTypeNode.MUTATION;

  return async (context, given) => {
    const errors: GraphQLError[] = [];
    // The fields of a query start together, those of a mutation one after another.
    const started = isMutation ? [] : fields.map(({ execute }) => execute(context, given, errors));
    const data: Record<string, unknown> = {};
    for (const [index, { key, execute }] of fields.entries()) {
      data[key] = await (started[index] ?? execute(context, given, errors));
    }
    return errors.length === 0 ? { data } : { errors, data };
  };
}

/** Returns what resolves and completes a root field: to null, with an error added, if it fails. */
function planField(field: SelectedField, root: GraphQLObjectType, collect: CollectFields) {
  const { key, nodes, definition } = field;
  if (definition === undefined) return async () => root.name;
  const { resolve, type, extensions } = definition;
  // Whether it is a root field of the contract, whose resolver no plugin has replaced.
  const isOfContract = extensions['contractResolver'] === resolve;
  if (!resolve || !isOfContract || isNonNullType(type)) throw new TypeError('not compilable');
  const complete = planType(type, field, collect);
  // All that the resolvers of the schema use.
  const info = { path: { key } } as GraphQLResolveInfo;

  return async (context: object, variables: VariableValues, errors: GraphQLError[]) => {
    try {
      const args = getArgumentValues(definition, nodes[0], variables);
      const value = await resolve(undefined, args, context, info);
      return complete(value, errors, key);
    } catch (error) {
      errors.push(locatedError(error, nodes, [key]));
      return null;
    }
  };
}

/** A list of records that may be able to write itself as JSON text. */
interface RecordList extends Iterable<unknown> {
  writeEach?(write: (record: unknown) => string): unknown;
}

function planType(type: GraphQLOutputType, field: SelectedField, collect: CollectFields): Complete {
  if (isLeafType(type)) return (value) => type.coerceOutputValue(value);
  const recordType = isListType(type) ? getNullableType(type.ofType) : type;
  if (!isObjectType(recordType)) throw new TypeError('not compilable');
  const { complete, write } = planRecord(recordType, field, collect);
  if (!isListType(type)) return (record, errors, key) => complete(record, errors, [key]);
  return (value, errors, key) => {
    const list = value as RecordList;
    const text = list.writeEach?.(write);
    if (text !== undefined) return text;
    return Array.from(list, (record, index) => complete(record, errors, [key, index]));
  };
}
