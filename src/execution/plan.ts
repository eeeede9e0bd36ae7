import {
  type ExecutionResult,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import { type Completion, nullFor, planType } from './completion.ts';
import { NotCompilableError, UnsupportedValueError } from './errors.ts';
import { type Execution, Thrown } from './execution.ts';
import { FieldCollector, type IsIncluded, type SelectedField } from './field-collector.ts';
import { planArguments, type VariableValues } from './inputs.ts';
import { planResolveInfo } from './resolve-info.ts';
import { type CompiledSource, resumeInFallback } from './resume-in-fallback.ts';

/** The values of the variables that `@skip` and `@include` use. */
export type Conditions = Readonly<Record<string, unknown>>;

/** Executes an operation with coerced variables. */
export type Execute = (execution: Execution) => Promise<ExecutionResult>;

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
 * once, here. Calls `onUnsupported` if the fallback executor has to complete a value.
 * @throws NotCompilableError
 */
export function planOperation(
  source: CompiledSource,
  conditions: Conditions,
  onUnsupported: () => void,
): Execute {
  const { schema, document, operation, root } = source;
  const collector = new FieldCollector(schema, document, isIncludedWith(conditions));
  const selected = collector.collect(root, [operation.selectionSet]);
  const fields = selected.map((field, index) => ({
    key: field.key,
    execute: planField(field, index, source, collector),
  }));
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const executeFields = isMutation ? executeSerially(fields) : executeConcurrently(fields);

  function succeed(execution: Execution, result: Completed): ExecutionResult {
    execution.finish();
    const { errors } = execution;
    return errors.length === 0 ? result : { errors, data: result.data };
  }

  async function fail(execution: Execution, error: Error): Promise<ExecutionResult> {
    if (error instanceof UnsupportedValueError) {
      onUnsupported();
      const keys = fields.map(({ key }) => key);
      return resumeInFallback(source, keys, execution).finally(() => execution.finish());
    }
    // The error of a non-null root field makes the whole `data` null.
    execution.finish();
    return { errors: [...execution.errors, ensureGraphQLError(error)], data: null };
  }

  return (execution) =>
    executeFields(execution).then(
      (result) => succeed(execution, result),
      (error: Error) => fail(execution, error),
    );
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
  index: number,
  source: CompiledSource,
  collector: FieldCollector,
): ExecuteField {
  const { key, nodes, definition } = field;
  const { root } = source;
  if (definition === undefined) return () => root.name;
  const { resolve, type } = definition;
  // The default resolver reads a property of the root value, which does not exist.
  if (resolve === undefined) throw new NotCompilableError();
  const complete = planType(type, field, root, collector);
  const isNullable = !isNonNullType(type);
  const readArguments = planArguments(definition, nodes[0]);
  const createInfo = planResolveInfo(definition, field, source);

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

  return (execution) => {
    const { context, variables, errors, rootResults } = execution;
    const completion: Completion = { errors, path: [key], thrown: undefined };
    let value: unknown;
    try {
      value = resolve(undefined, readArguments(variables), context, createInfo(execution));
      if (isPromiseLike(value)) value = Promise.resolve(value);
    } catch (error) {
      rootResults[index] = new Thrown(error);
      return fail(error, completion);
    }
    rootResults[index] = value;
    if (value instanceof Promise) return completeAwaited(value, completion);
    try {
      return complete(value, completion);
    } catch (error) {
      return fail(error, completion);
    }
  };
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

function isIncludedWith(conditions: Conditions): IsIncluded {
  const variables = { coerced: conditions } as VariableValues;
  return (selection) =>
    getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
