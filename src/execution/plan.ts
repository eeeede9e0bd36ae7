import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isNonNullType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { type Completion, nullFor, planType } from './completion.ts';
import {
  FieldCollector,
  type IsIncluded,
  NotCompilableError,
  type SelectedField,
} from './field-collector.ts';
import { planArguments, type VariableValues } from './inputs.ts';

/** The values of the variables that `@skip` and `@include` use. */
export type Conditions = Readonly<Record<string, unknown>>;

/** Executes an operation with coerced variables. */
export type Execute = (context: object, variables: VariableValues) => Promise<ExecutionResult>;

/** The inputs of one execution, and the errors of its fields. */
interface Execution {
  readonly context: object;
  readonly variables: VariableValues;
  readonly errors: GraphQLError[];
}

/**
 * Resolves and completes one root field. On failure, returns null and adds the error to
 * `execution`, or throws the error if null is not allowed. May return a promise, which rejects
 * likewise.
 */
type ExecuteField = (execution: Execution) => unknown;

interface RootField {
  readonly key: string;
  readonly execute: ExecuteField;
}

/**
 * Plans an operation for these conditions. Work that does not depend on the other variables is done
 * once, here. @throws NotCompilableError
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation: type, selectionSet }: OperationDefinitionNode,
  conditions: Conditions,
): Execute {
  const root = schema.getRootType(type);
  if (!root) throw new NotCompilableError();
  const collector = new FieldCollector(document, isIncludedWith(conditions));
  const fields = collector
    .collect(root, [selectionSet])
    .map((field) => ({ key: field.key, execute: planField(field, root, collector) }));
  const isMutation = type === OperationTypeNode.MUTATION;
  const executeFields = isMutation ? executeSerially(fields) : executeConcurrently(fields);

  return async (context, variables) => {
    const errors: GraphQLError[] = [];
    try {
      const result = await executeFields({ context, variables, errors });
      return errors.length === 0 ? result : { errors, data: result.data };
    } catch (error) {
      // The error of a non-null root field makes the whole `data` null.
      return { errors: [...errors, ensureGraphQLError(error as Error)], data: null };
    }
  };
}

/** Wraps an error that `locatedError` left unchanged because it has its own path. */
function ensureGraphQLError(error: Error): GraphQLError {
  if (error instanceof GraphQLError) return error;
  return new GraphQLError(error.message, { originalError: error });
}

/** Wraps the data, because a promise would treat data with a function `then` as a thenable. */
interface Completed {
  readonly data: Record<string, unknown>;
}

type ExecuteFields = (execution: Execution) => Promise<Completed>;

function executeConcurrently(fields: readonly RootField[]): ExecuteFields {
  const [only] = fields;
  if (only !== undefined && fields.length === 1) {
    return async (execution) => ({ data: { [only.key]: await only.execute(execution) } });
  }
  return async (execution) => {
    const started: unknown[] = [];
    try {
      for (const { execute } of fields) started.push(execute(execution));
    } catch (error) {
      // Later fields are not started. Earlier ones may still reject, which must be handled.
      Promise.allSettled(started);
      throw error;
    }
    const values = await Promise.all(started);
    return { data: Object.fromEntries(fields.map(({ key }, index) => [key, values[index]])) };
  };
}

function executeSerially(fields: readonly RootField[]): ExecuteFields {
  return async (execution) => {
    const data: [string, unknown][] = [];
    for (const { key, execute } of fields) data.push([key, await execute(execution)]);
    return { data: Object.fromEntries(data) };
  };
}

function planField(
  field: SelectedField,
  root: GraphQLObjectType,
  collector: FieldCollector,
): ExecuteField {
  const { key, nodes, definition } = field;
  if (definition === undefined) return () => root.name;
  const { resolve, type } = definition;
  // The default resolver reads a property of the root value, which does not exist.
  if (resolve === undefined) throw new NotCompilableError();
  const complete = planType(type, field, root, collector);
  const isNullable = !isNonNullType(type);
  const readArguments = planArguments(definition, nodes[0]);

  function fail(error: unknown, completion: Completion): null {
    completion.path.length = 1;
    return nullFor(error, nodes, completion, isNullable);
  }

  async function completeAwaited(promise: Promise<unknown>, completion: Completion) {
    try {
      return complete(await promise, completion);
    } catch (error) {
      return fail(error, completion);
    }
  }

  return ({ context, variables, errors }) => {
    const completion: Completion = { errors, path: [key] };
    try {
      const value = resolve(undefined, readArguments(variables), context, noInfo);
      return value instanceof Promise
        ? completeAwaited(value, completion)
        : complete(value, completion);
    } catch (error) {
      return fail(error, completion);
    }
  };
}

/** The resolvers of the schema use no `info`. */
const noInfo = undefined as never;

function isIncludedWith(conditions: Conditions): IsIncluded {
  const variables = { coerced: conditions } as VariableValues;
  return (selection) =>
    getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
