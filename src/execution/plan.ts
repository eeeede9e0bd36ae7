import {
  type ExecutionResult,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  isNonNullType,
  OperationTypeNode,
} from 'graphql';
import { type Completion, completeType, nullFor } from './completion.ts';
import { type Execution, Thrown } from './execution.ts';
import { planArguments, type VariableValues } from './inputs.ts';
import { NotCompilable, UnforeseenValue } from './refusals.ts';
import { type CompiledSource, replay } from './replay.ts';
import { planResolveInfo } from './resolve-info.ts';
import { type IsIncluded, type SelectedField, SelectionReader } from './selection.ts';

/** The values of the variables by which selections are skipped or included. */
export type Conditions = Readonly<Record<string, unknown>>;

/** Executes an operation with variables that were read. */
export type Execute = (execution: Execution) => Promise<ExecutionResult>;

/**
 * Resolves and completes one field of the operation; null and an error in `execution` on failure.
 * @throws the error where null is not allowed, like the promise that it may return.
 */
type ExecuteField = (execution: Execution) => unknown;

interface RootField {
  readonly key: string;
  readonly execute: ExecuteField;
}

/**
 * Plans an operation under conditions of these values: all that does not depend on its other
 * variables is done here, once. Calls `onUnforeseen` when the fallback executor had to complete a
 * value. @throws NotCompilable
 */
export function planOperation(
  source: CompiledSource,
  conditions: Conditions,
  onUnforeseen: () => void,
): Execute {
  const { schema, document, operation, root } = source;
  const selections = new SelectionReader(schema, document, includedUnder(conditions));
  const selected = selections.fieldsOf(root, [operation.selectionSet]);
  const fields = selected.map((field, index) => ({
    key: field.key,
    execute: planField(field, index, source, selections),
  }));
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const executeFields = isMutation ? oneAfterTheOther(fields) : together(fields);

  function succeed(execution: Execution, result: Completed): ExecutionResult {
    execution.finish();
    const { errors } = execution;
    return errors.length === 0 ? result : { errors, data: result.data };
  }

  async function fail(execution: Execution, error: Error): Promise<ExecutionResult> {
    if (error instanceof UnforeseenValue) {
      onUnforeseen();
      const keys = fields.map(({ key }) => key);
      return replay(source, keys, execution).finally(() => execution.finish());
    }
    // A field that must not be null is: it takes the whole response with it.
    execution.finish();
    return { errors: [...execution.errors, ensureGraphQLError(error)], data: null };
  }

  return (execution) =>
    executeFields(execution).then(
      (result) => succeed(execution, result),
      (error: Error) => fail(execution, error),
    );
}

/** An error that had a path of its own was located as it is. */
function ensureGraphQLError(error: Error): GraphQLError {
  if (error instanceof GraphQLError) return error;
  return new GraphQLError(error.message, { originalError: error });
}

/** Data inside an object: data with an alias `then` would itself be taken for a promise. */
interface Completed {
  readonly data: Record<string, unknown>;
}

type ExecuteFields = (execution: Execution) => Promise<Completed>;

function together(fields: readonly RootField[]): ExecuteFields {
  const [only] = fields;
  if (only !== undefined && fields.length === 1) {
    return async (execution) => ({ data: { [only.key]: await only.execute(execution) } });
  }
  return async (execution) => {
    const started: unknown[] = [];
    try {
      for (const { execute } of fields) started.push(execute(execution));
    } catch (error) {
      // The fields after this one are not started, and those before it may still fail.
      Promise.allSettled(started);
      throw error;
    }
    const values = await Promise.all(started);
    return { data: Object.fromEntries(fields.map(({ key }, index) => [key, values[index]])) };
  };
}

function oneAfterTheOther(fields: readonly RootField[]): ExecuteFields {
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
  selections: SelectionReader,
): ExecuteField {
  const { key, nodes, definition } = field;
  const { root } = source;
  if (definition === undefined) return () => root.name;
  const { resolve, type } = definition;
  // Without a resolver, the value would be a property of a root value, which there is none of.
  if (resolve === undefined) throw new NotCompilable();
  const complete = completeType(type, field, root, selections);
  const isNullable = !isNonNullType(type);
  const readArguments = planArguments(definition, nodes[0]);
  const infoOf = planResolveInfo(definition, field, source);

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
    const { context, variables, errors, outcomes } = execution;
    const completion: Completion = { errors, path: [key], thrown: undefined };
    let value: unknown;
    try {
      value = resolve(undefined, readArguments(variables), context, infoOf(execution));
      if (isPromiseLike(value)) value = Promise.resolve(value);
    } catch (error) {
      outcomes[index] = new Thrown(error);
      return fail(error, completion);
    }
    outcomes[index] = value;
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

function includedUnder(conditions: Conditions): IsIncluded {
  const variables = { coerced: conditions } as VariableValues;
  return (selection) =>
    getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
