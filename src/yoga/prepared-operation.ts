import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type ExperimentalIncrementalExecutionResults,
  experimentalExecuteIncrementally,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type LegacyExperimentalIncrementalExecutionResults,
  legacyExecuteIncrementally,
  type OperationDefinitionNode,
  type SelectionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { isAsyncIterable, type PromiseOrValue } from 'graphql-yoga';
import { compileOperation } from '../execution/compile.ts';
import { conditionsOf, expandFields } from '../execution/field-collector.ts';
import type { PetStoreContext } from '../graphql/context.ts';
import { examineOperation } from '../graphql/examine-operation.ts';
import { invalidVariables } from '../graphql/invalid-input.ts';
import type { OperationLabel } from '../request/report.ts';
import type { Delivery } from './delivery.ts';

/** The parts of a result with deferred fragments, in one of graphql-js's formats. */
type Parts = AsyncGenerator<object, void, void>;

/** What an execution needs of the context. */
interface ExecutionContext extends PetStoreContext {
  /** How deferred fragments are delivered; undefined for a whole result. */
  readonly delivery?: Delivery | undefined;
}

/** Returns how an operation is reported. */
function labelOf(
  { operation: type, name }: OperationDefinitionNode,
  deprecations: OperationLabel['deprecations'],
): OperationLabel {
  const shown = name?.value.slice(0, 64);
  const title = shown === undefined ? type : `${type} ${shown}`;
  return { type, name: shown, title, deprecations };
}

/** An operation of a prepared document. */
export type PreparedOperation = ReturnType<typeof prepareOperation>;

/** Prepares an operation for any number of executions. @param document of only it and its fragments */
export function prepareOperation(
  definition: OperationDefinitionNode,
  document: DocumentNode,
  schema: GraphQLSchema,
  introspection: boolean | 'keys',
) {
  const { whole, ...examined } = examineOperation(schema, document);
  const { deprecations } = examined;
  const conditions = conditionsOf(document);
  const ofConditions = (definition.variableDefinitions ?? []).filter(({ variable }) =>
    conditions.includes(variable.name.value),
  );
  const compiled = compileOperation(schema, whole);
  const hideSuggestions = introspection !== true;
  const shared = { schema, document: whole, hideSuggestions, options: { maxCoercionErrors: 1 } };

  /**
   * Executes the operation, in the place of Yoga's executor, which rounds large integers in variable
   * defaults. If the context has a delivery, graphql-js starts all fields immediately and returns
   * deferred fragments as later parts, or a whole result if the variables turn every `@defer` off.
   * Otherwise the result is whole: from compiled code, or from graphql-js if there is none.
   */
  function executePlain({ contextValue, variableValues }: ExecutionArgs) {
    const values = variableValues ?? {};
    const { delivery } = contextValue as ExecutionContext;
    const refused = ofConditions.length === 0 ? undefined : refuseNull(ofConditions, values);
    const isCompiled = refused === undefined && delivery === undefined;
    const executed = isCompiled ? compiled?.(contextValue as object, values) : undefined;
    if (executed !== undefined) return executed;
    const args: ExecutionArgs = { ...shared, contextValue, variableValues: values };
    const result = refused ?? (delivery ? defer({ ...args, document }, delivery) : interpret(args));
    if (!('errors' in result) || 'data' in result) return result;
    // Without data, a variable is invalid.
    const error = invalidVariables(args, values);
    return error ? { errors: [error] } : result;
  }

  /** Executes the operation, and adds the deprecated fields and, if they are asked for, the calls. */
  function execute(args: ExecutionArgs): PromiseOrValue<ExecutionResult | Parts> {
    const { explained } = (args.contextValue as ExecutionContext).petStore;
    const executed = executePlain(args);
    if (deprecations.length === 0 && explained === undefined) return executed;
    const extend = (result: ExecutionResult): ExecutionResult => {
      const extensions = { ...result.extensions };
      // Not if nothing was executed, and only in the first part.
      if ('data' in result && deprecations.length > 0) extensions['deprecations'] = deprecations;
      const isExecuted = 'data' in result || 'hasNext' in result;
      if (isExecuted && explained) extensions['calls'] = explained.list();
      return Object.keys(extensions).length === 0 ? result : { ...result, extensions };
    };
    const add = (result: ExecutionResult | Parts) =>
      isAsyncIterable(result) ? extendEach(result, extend) : extend(result);
    return executed instanceof Promise ? executed.then(add) : add(executed);
  }

  const needsKey = examined.isIntrospection && introspection === 'keys';
  return {
    ...examined,
    definition,
    label: labelOf(definition, deprecations),
    /** Whether it may be executed only for an accepted key. */
    needsKey,
    /** How many calls it takes from the rate of its key: one per root field. */
    calls: countRootFields(definition, document) + Number(needsKey),
    /** Whether it has a `@defer`, for which graphql-js may take milliseconds. */
    isDeferred: whole !== document,
    execute,
  };
}

async function* extendEach(parts: Parts, extend: (part: object) => object): Parts {
  for await (const part of parts) yield extend(part);
}

/**
 * Refuses a null condition before anything is executed, so that no write is done before it fails:
 * graphql-js refuses it only when it reaches the directive.
 */
function refuseNull(
  ofConditions: readonly VariableDefinitionNode[],
  values: Readonly<Record<string, unknown>>,
): ExecutionResult | undefined {
  for (const { variable, defaultValue } of ofConditions) {
    const value = values[variable.name.value];
    if (value !== null && (value !== undefined || defaultValue?.kind !== Kind.NULL)) continue;
    const message = `Expected true or false for $${variable.name.value}, received null.`;
    return { errors: [new GraphQLError(message, { nodes: variable })] };
  }
  return undefined;
}

/** Executes a whole operation: graphql-js's `execute` rejects each if the schema defines `@defer`. */
function interpret(args: ExecutionArgs): PromiseOrValue<ExecutionResult> {
  return experimentalExecuteIncrementally(args) as PromiseOrValue<ExecutionResult>;
}

function defer(args: ExecutionArgs, { format }: Delivery): PromiseOrValue<ExecutionResult | Parts> {
  const isCurrent = format === 'incrementalSpec=v0.2';
  const execute = isCurrent ? experimentalExecuteIncrementally : legacyExecuteIncrementally;
  const result = execute({ ...args, enableEarlyExecution: true });
  return result instanceof Promise ? result.then(toParts) : toParts(result);
}

/** Returns the parts of a result as Envelop expects them, the first one included. */
function toParts(
  result:
    | ExecutionResult
    | ExperimentalIncrementalExecutionResults
    | LegacyExperimentalIncrementalExecutionResults,
): ExecutionResult | Parts {
  return 'initialResult' in result ? partsOf(result) : result;
}

async function* partsOf({
  initialResult,
  subsequentResults,
}: ExperimentalIncrementalExecutionResults | LegacyExperimentalIncrementalExecutionResults): Parts {
  yield initialResult;
  yield* subsequentResults;
}

/**
 * Returns how many root fields of an operation make calls, with fragments expanded. Fields with the same
 * response key are one; introspection and what a literal condition turns off are none.
 */
export function countRootFields(operation: OperationDefinitionNode, document: DocumentNode) {
  const isIncluded = ({ directives }: SelectionNode) => !directives?.some(turnsOff);
  const keys = expandFields([operation], document, isIncluded)
    .filter(({ name }) => !name.value.startsWith('__'))
    .map(({ alias, name }) => (alias ?? name).value);
  return new Set(keys).size;
}

function turnsOff({ name, arguments: [condition] = [] }: DirectiveNode): boolean {
  const value = condition?.value.kind === Kind.BOOLEAN ? condition.value.value : undefined;
  return value === (name.value === 'skip') && /^(?:skip|include)$/.test(name.value);
}
